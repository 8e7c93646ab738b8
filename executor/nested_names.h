#ifndef NESTED_NAMES_H
#define NESTED_NAMES_H

/* The names that nested_look() and nested_inspect() want of a walk, as bits of walk_step.seen. */
#include <stdbool.h>
#include <stdint.h>

#include "nested.h"
#include "protect.h"
#include "walk.h"

enum nested_name {
	NAME_GIT = 1 << 0,
	/* of a repository */
	NAME_HEAD = 1 << 1,
	NAME_OBJECTS = 1 << 2,
	NAME_REFS = 1 << 3,
	NAME_COMMONDIR = 1 << 4,
	NAME_CONFIG = 1 << 5,
	NAME_CONFIG_WORKTREE = 1 << 6,
	NAME_HOOKS = 1 << 7,
	NAME_INNER = NAME_COMMONDIR | NAME_CONFIG | NAME_CONFIG_WORKTREE | NAME_HOOKS, /* what git believes */
	/* all above: settings */
	NAME_SETTINGS_FIRST = 1 << 8,
};

#define NESTED_NAMES 18

/* The names, by the numbers of these bits. */
extern const char *const nested_names[NESTED_NAMES];

/* A walk for this mode: without settings where only repositories count. */
struct walk nested_walk(uint64_t mode, const struct protect *way, unsigned entries, void *context);

static inline uint32_t
nested_settings(uint32_t seen)
{
	return seen & ~(uint32_t)(NAME_SETTINGS_FIRST - 1);
}

/* Would git take a directory with these entries for a repository? */
static inline bool
nested_is_repository(uint32_t seen)
{
	return seen & NAME_HEAD &&
	    (seen & NAME_COMMONDIR || (seen & (NAME_OBJECTS | NAME_REFS)) == (NAME_OBJECTS | NAME_REFS));
}

/* What git believes, of these entries of a directory: nothing when it is no repository. */
uint32_t nested_inner(const struct walk_step *step);

/* A file, to be known again: born_ns tells it from another with the same inode after it. */
struct nested_file {
	uint64_t dev, ino, born_ns, folder; /* folder: nested_stat() leaves it 0 */
	uint32_t mode;
};

/* Of `name`, no link followed, or with "" of the directory itself.  0, or -1 with errno. */
int nested_stat(int at, const char *name, struct nested_file *file);

/* Is it one of the directories that protect.h looks at?  Is it the ".git" in one of them? */
bool nested_on_way(const struct protect *way, const struct walk_step *step);
bool nested_git_on_way(const struct protect *way, const struct walk_step *step);

/* root + "/" + what walk_path() says; false when it does not fit. */
bool nested_path(const struct protect *way, const struct walk_step *step, const char *name, char path[LIMIT_PATH]);

/* --- of nested_look() --- */

struct looking {
	struct nested *nested;
	const struct protect *way;
	int root_fd;
};

/* 0, or -1 with errno E2BIG. */
int nested_add(struct nested *nested, const struct nested_file *file, enum nested_kind kind, const char *path);

/* What is named by the configuration of a repository, and of one that a ".git" in this directory leads to. */
int nested_look_at_config(struct looking *looking, const struct walk_step *step);
int nested_look_at_pointer(struct looking *looking, const struct walk_step *step);

#endif
