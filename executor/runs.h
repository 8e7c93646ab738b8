#ifndef RUNS_H
#define RUNS_H

/*
 * Run folders: runs/<slot>/<uuid>.<attempt>, made and marked under the slot's init uid, by
 * descriptor.  Names of the files in them: keep.h.
 */
#include <sys/uio.h>

#include <sys/types.h>

#include <stdbool.h>

#include "run.h"

#include "identity.h"

struct runs {
	int slot_fd;          /* O_PATH of runs/<slot> */
	struct identity init; /* whose it is */
};

/* Open runs/<slot>; -1 with errno. */
int runs_open_slot(int runs_fd, unsigned slot, const struct identity *init, struct runs *runs);

/* A new folder, readable; -1 with errno (EEXIST: this attempt was here before). */
int runs_make(const struct runs *runs, const struct run_name *run);

/* An existing one, readable; -1 with errno. */
int runs_open(const struct runs *runs, const struct run_name *run);

/*
 * Make an empty mark of `from`, or a new one where there is no such file; one that is there already is
 * good.  New files are what costs most on some disks (spread() of launch), so a run makes few of them,
 * and removes none.
 */
int runs_mark(const struct runs *runs, int folder, const char *from, const char *mark);
bool runs_has(const struct runs *runs, int folder, const char *name);

/* Has its end been told to the auditor? */
bool runs_is_recorded(const struct runs *runs, int folder);

/*
 * A new file with this content, not yet on the disk; its descriptor or -1 with errno.  runs_write:
 * durable; 0 or -1.  Written once, so a torn one is not believed.
 */
int runs_note(const struct runs *runs, int folder, const char *name, const void *bytes,
    size_t size);
int runs_note_parts(const struct runs *runs, int folder, const char *name, const struct iovec *parts,
    int count);
int runs_write(const struct runs *runs, int folder, const char *name, const void *bytes,
    size_t size);

/* Append to a file, which is made when it is missing; -1 with errno. */
int runs_append(const struct runs *runs, int folder, const char *name, const char *text);

/* At most `size` bytes of a regular file; how many, or -1 with errno. */
ssize_t runs_read(const struct runs *runs, int folder, const char *name, void *bytes, size_t size);

/* The result, when there is a whole one of this very run. */
bool runs_result(const struct runs *runs, int folder, const struct run_name *run,
    struct run_result *result);

/* Does a living keeper hold the lock? */
bool runs_is_kept(const struct runs *runs, int folder);

/* Connect to the living keeper; -1 with errno. */
int runs_connect(const struct runs *runs, int folder);

/* Call with every folder of the slot that is named like a run. */
void runs_each(const struct runs *runs, unsigned slot,
    void (*found)(void *context, const struct run_name *run),
    void *context);

/* Remove a run's folder with its files; -1 with errno. */
int runs_prune(const struct runs *runs, const struct run_name *run);

#endif
