#ifndef RESOLVE_H
#define RESOLVE_H

/*
 * Walk a path component by component, never letting the kernel follow a link, over two worlds:
 * the host's tree under our own ids, and one policy root through its idmapped mount under the
 * job's ids.  The root is entered by its prefix: the directories above it may be closed to us.
 *
 * "named" is the canonical directory plus the last component as it was written; "target" is
 * where the links lead in the end.
 */
#include <sys/stat.h>

#include <stdbool.h>

#include "identity.h"
#include "limits.h"

#define RESOLVE_NAME 256  /* NAME_MAX and the NUL */
#define RESOLVE_LINKS 40   /* as the kernel */
#define RESOLVE_STEPS 1024 /* components in all: a path of 4096 bytes has at most 2048 */

struct resolve_world {
	int root_fd;           /* O_PATH of the root's mount, or -1: only the host's tree */
	const char *root;      /* its canonical path */
	struct identity job;   /* who walks below it */
	struct identities ours; /* owners that are not host administration */
	/*
	 * NULL: go wherever the path leads.  Else stay on the filesystem of "/": where the path leads
	 * into another one or into the root, *elsewhere becomes true and the walk fails with EXDEV.
	 */
	bool *elsewhere;
};

struct resolved {
	int directory; /* O_PATH, of the target */
	int fd;        /* O_PATH, the target itself */
	char named[LIMIT_PATH], target[LIMIT_PATH], last[RESOLVE_NAME];
	struct stat stat;
	bool inside; /* the target lies in the root */
	/*
	 * every directory on the way and the target are the host's and closed to group and others
	 * for writing
	 */
	bool firm;
};

/* 0, or -1 with errno; on success the caller ends with resolve_close().  path: absolute. */
int resolve_path(const struct resolve_world *world, const char *path, struct resolved *resolved);

/* The target for reading, the very same inode; -1 with errno. */
int resolve_open(const struct resolve_world *world, const struct resolved *resolved);

/* May it be executed by the one who walks there? */
bool resolve_may_execute(const struct resolve_world *world, const struct resolved *resolved);

void resolve_close(struct resolved *resolved);

#endif
