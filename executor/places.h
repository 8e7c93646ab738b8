#ifndef PLACES_H
#define PLACES_H

/*
 * What a cage shows of the host at its own path: the workspace's root, and what the policy names
 * beside it (read_paths, write_paths).
 *
 * They are mounted from the shortest path to the longest, so that of two that overlap the inner
 * one counts: a read path in a writable root is a part of it that cannot be changed, a write path
 * in a read path a part that can.  Where the outer one is writable, every directory between the
 * two is made a mount point: the job cannot move the inner one away and put another in its place.
 */
#include <stdbool.h>

#include "boot.h"

#include "decode.h"
#include "identity.h"

#define PLACES_MOST (LIMIT_EXTRAS + 1)

struct places_one {
	const char *path; /* absolute, clean; the plan's */
	unsigned root;    /* its number in the boot record */
	bool read_only;
	bool is_file;     /* known when its tree is taken */
	int tree;         /* detached mount, -1 before and after */
};

struct places {
	struct places_one all[PLACES_MOST]; /* sorted by the length of the path */
	unsigned count;
	const char *root; /* the workspace's root is one of them */
};

/* The places of a plan that bounds_check() has let through. */
void places_fill(struct places *places, const struct boot *boot, const struct plan *plan);

/* Does one of them show this path? */
bool places_hold(const struct places *places, const char *path);

/*
 * Everything below is called after a fork: async-signal-safe, 0 or -1 with errno.
 *
 * places_take    detached mounts; what a job may write must show as the job's own (EUCLEAN)
 * places_mount   in the new mount namespace, standing in the new root; closes the trees
 * places_cover_policy  the policy file, wherever the job could write it
 */
int places_take(struct places *places, const struct boot *boot, unsigned slot, uid_t job);
int places_mount(struct places *places, const struct identity *job);
int places_cover_policy(const struct places *places, const char *policy);

#endif
