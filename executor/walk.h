#ifndef WALK_H
#define WALK_H

/*
 * A bounded walk through all directories below one, by descriptors: each is opened by its name in the one
 * above, through no link; what is mounted below is walked as well, for a job has it.  Whoever calls stands
 * under the ids it shall walk with.
 *
 * Names that are wanted are noted, and gone into only when the rest of their directory is done and judge()
 * says so: it may rename them, the directory is not being read any more.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "limits.h"

#define WALK_ENTRIES 2000000 /* in all directories together: some seconds of a warm cache */
#define WALK_DEPTH 128       /* directories in each other, one descriptor for each; a deeper one is closed */

/* A directory on the way down. */
struct walk_step {
	const struct walk_step *above; /* NULL: where the walk began */
	const char *name;              /* in the one above; "" where it began */
	size_t length;                 /* of its path from there */
	int fd;
	uint32_t seen;                 /* bit n: it has an entry of the name wanted[n] */
};

struct walk {
	const char *const *wanted; /* at most 32 names */
	unsigned wanted_count;
	unsigned entries;          /* that may still be read */
	size_t path_most;          /* what the path of a directory may have, that a name in it still fits */
	void *context;

	/* All of a directory was read.  0 with the wanted ones to go into in *into, or -1 with errno. */
	int (*judge)(struct walk *walk, const struct walk_step *step, uint32_t *into);
	/* A directory that may not be read or searched, or is too deep.  0, or -1 with errno. */
	int (*closed)(struct walk *walk, const struct walk_step *above, const char *name);
	/* Is this directory left out? */
	bool (*skip)(const struct walk_step *above, const char *name);
};

/*
 * 0, or -1 with errno: E2BIG when there are more entries than the bound allows, and what a call-back said.  What is
 * removed while we walk is not missed.
 */
int walk_below(struct walk *walk, int root_fd);

/* Relative to where the walk began; name may be "".  False when it does not fit. */
bool walk_path(const struct walk_step *step, const char *name, char path[LIMIT_PATH]);

#endif
