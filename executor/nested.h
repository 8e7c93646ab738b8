#ifndef NESTED_H
#define NESTED_H

/*
 * The protected paths of a root beside the way to the working directory (protect.h): repositories, wherever git
 * would find one, and the settings of agents and editors in any directory.
 *
 * A repository is ".git", or a directory that git takes for one: with HEAD, and with objects and refs or with
 * commondir.  So bare ones, those of submodules (.git/modules) and of linked worktrees (.git/worktrees) are found by
 * what they look like, not by where they should be.  With them goes what their configuration names as hooks and as
 * more of itself (git_paths.h).
 *
 * Before a job a walk (walk.h) finds what exists: it is read-only in the cage.  After it the same walk looks for
 * what was not there.  What git itself writes and what names no program may stay (harmless.h); the rest is put
 * away and the run counts as "violated".  Where a walk comes to its bounds there is no run, or it is violated.
 *
 * What existed is known again by device, inode and birth, not by path: a job may rename a directory with a
 * repository somewhere in it.
 */
#include <stddef.h>
#include <stdint.h>

#include "identity.h"
#include "protect.h"
#include "quarantine.h"

#define NESTED_MAGIC "ASNEST01"
#define NESTED_MOST 1024             /* items: each that is covered is one mount of the cage */
#define NESTED_BYTES (256u << 10)    /* of them together with their paths */
#define NESTED_ENTRIES_AT_ONCE 2048  /* 16 ms if all were directories, 1 if files: more is left to a child */

/* What the policy says of a root. */
enum nested_mode {
	NESTED_PROTECTED,
	NESTED_REPOSITORIES, /* no settings of agents and editors */
	NESTED_OFF,
};

enum nested_kind {
	NESTED_READ_ONLY,  /* covered */
	NESTED_OPEN,       /* a ".git": writable, and cannot be renamed */
	NESTED_KNOWN,      /* another repository: what matters in it is covered by itself */
	NESTED_LINK,       /* a symbolic link: it must stay this very one */
	NESTED_ABSENT,     /* named by a configuration, and not there: it must not be there */
	NESTED_KINDS
};

/* Behind it lies its path, absolute, `length` bytes: with its NUL, and more of them to a multiple of eight. */
struct nested_item {
	uint64_t dev, ino, born_ns; /* struct nested_file */
	uint64_t folder;            /* inode of the directory that it lies in; 0 where that does not matter */
	uint32_t kind, length;
};

/* Of all places of one plan. */
struct nested {
	char magic[8];
	uint64_t mode, count, used;
	unsigned char bytes[NESTED_BYTES];
};

/* How much of it is in use, from its begin: what is kept for those who come after a crash. */
size_t nested_size(const struct nested *nested);

/* Is this, `size` bytes, what nested_look() could have written? */
bool nested_is_sound(const struct nested *nested, size_t size);

/* The n-th item at *at, which begins at 0 and is moved on; its path in *path. */
const struct nested_item *nested_next(const struct nested *nested, size_t *at, const char **path);

void nested_begin(struct nested *nested, enum nested_mode mode);

/*
 * Add what exists below the root of `way` (root_fd is a mount of it); at most *entries are looked at, and
 * taken off it.
 * 0, or -1 with errno: E2BIG when a bound was met, EACCES, EIO and what else a file system says.
 */
int nested_look(struct nested *nested, int root_fd, const struct identity *job, const struct protect *way,
    unsigned *entries);

/* As protect_cover(). */
int nested_cover(const struct nested *nested);

/*
 * After the job, below the root of `way`: put away what must not be there, as `order` says.
 * 0 with the number of violations added to *violations, or -1 with errno when not all was looked at.
 */
int nested_inspect(const struct nested *nested, const struct protect *way, int root_fd, unsigned *entries,
    const struct quarantine *order, unsigned *violations);

_Static_assert(sizeof(struct nested_item) == 40, "no padding");

#endif
