#ifndef PROTECT_H
#define PROTECT_H

/*
 * Paths in a workspace that programs outside of any cage trust: a repository's hooks and
 * configuration, the settings of agents and editors, the policy.  They are looked for in every
 * directory from the root down to the working directory; what lies elsewhere in the root is for
 * nested.h.
 *
 * What exists when a job starts is read-only in its cage.  What does not exist is watched: if it
 * is there when the job's last process has ended, it is renamed to
 * NAME.agent-safe-quarantine-RUN and the run counts as "violated".  Nothing is ever made in the
 * workspace for this.  One thing may be made: a ".git" as `git init` makes it (harmless.h).
 *
 * A symbolic link cannot be covered by a mount: it is watched itself, what it leads to is not.
 */
#include <stdbool.h>
#include <stdint.h>

#include "limits.h"

#include "identity.h"
#include "quarantine.h"

#define PROTECT_NAMES 15
#define PROTECT_GIT 0 /* the item ".git" */
#define PROTECT_DIRECTORIES 64 /* from the root to the working directory; deeper is refused */
#define PROTECT_MAGIC "ASWATCH2"

enum protect_kind {
	PROTECT_ABSENT, /* watched */
	PROTECT_FILE,   /* anything but a directory or a link */
	PROTECT_DIRECTORY,
	PROTECT_LINK,   /* watched: it must stay this very link */
	PROTECT_WITHIN, /* below a ".git" that is no directory: covered with that */
};

struct protect_item {
	uint64_t ino;
	uint32_t kind; /* enum protect_kind */
	uint32_t unused;
};

/* How it was before the job; one after the other in a run's file KEEP_BEGUN. */
struct protect {
	char magic[8];
	char root[LIMIT_PATH], cwd[LIMIT_PATH];
	uint64_t directories; /* how many of the next two are in use */
	uint64_t inos[PROTECT_DIRECTORIES]; /* of the directories themselves */
	struct protect_item items[PROTECT_DIRECTORIES][PROTECT_NAMES];
};

/* The name of an item below its directory: ".git/hooks". */
const char *protect_name(unsigned item);

/* The i-th directory's path, absolute: 0 is the root.  False when it does not fit. */
bool protect_directory(const struct protect *protect, unsigned index, char path[LIMIT_PATH]);

/*
 * See how it is now, below root_fd (a mount of `root`) under the job's ids.  0, or -1 with errno.
 */
int protect_look(struct protect *protect, int root_fd, const struct identity *job,
    const char *root, const char *cwd);

/* Is this what protect_look() could have written? */
bool protect_is_sound(const struct protect *protect);

/*
 * In a job's new mount namespace, under the job's ids, the workspace mounted below ".": cover
 * what existed.  Async-signal-safe.  0, or -1 with errno.
 */
int protect_cover(const struct protect *protect);

/*
 * After the job: compare, and put away what must not be there, as `order` says.  deep: repositories
 * in a new ".git" (submodules, worktrees) are looked at by nested_inspect(), else there may be none.
 * The number of violations.
 */
unsigned protect_inspect(const struct protect *protect, int root_fd, bool deep,
    const struct quarantine *order);

/* Is this one of those that were there? */
bool protect_knows(const struct protect *protect, uint64_t ino);

_Static_assert(sizeof(struct protect) == 8 + 2 * LIMIT_PATH + 8 + 8 * PROTECT_DIRECTORIES +
    sizeof(struct protect_item) * PROTECT_DIRECTORIES * PROTECT_NAMES, "no padding");

#endif
