#ifndef PROGRAM_H
#define PROGRAM_H

/*
 * Find a program as somebody named it, its "#!" interpreter too, decide how its bytes are held
 * fast, and take their digest.  Runs in a short-lived child (errand.c): a file may lie on a
 * filesystem that never answers.  Or in the executor itself, with world.elsewhere: then only what
 * is pinned, has its digest in the cache and lies on the filesystem of "/" is found; whatever
 * else there is to look at makes *elsewhere true.
 *
 * PROGRAM_PINNED: run in place.  In our user namespace every owner outside its map shows as the
 * overflow uid, root like any other, so ownership by root cannot be asked for.  Asked instead:
 * the file lies in a system tree that every cage shows read-only (/usr, and /bin, /sbin, /lib*
 * where they were not merged), outside every policy root, and it and each directory passed on
 * the way (those that hold a link, too) belong to none of our own ids and are writable for
 * neither group nor others.  A host account that owns a file in /usr is the host's own doing.
 * PROGRAM_COPIED: everything else.
 */
#include "boot.h"

#include "cache.h"
#include "decode.h"
#include "resolve.h"

struct program_search {
	const struct resolve_world *world;
	const struct boot *boot;
	const struct cache *cache;
	/* directory for the copies "program" and "interpreter"; NULL: only take digests */
	const char *copies;
};

/* What a search found; fixed size, so that a child can hand it over in shared memory. */
struct program_found {
	struct program program, interpreter; /* interpreter.kind 0: none */
	/* of pinned files whose digest was not in the cache; all 0: none */
	struct cache_key fresh[2];
};

/*
 * By argv[0]: absolute, relative to cwd, or a bare name looked up in `path` (directories joined
 * by ':').  0, or -1 with errno: whatever the reason, the program is unavailable.
 */
int program_find(const struct program_search *search, const char *name, const char *cwd,
    const char *path,
    struct program_found *found);

/* The same for a canonical path as it was approved (program.named). */
int program_find_named(const struct program_search *search, const char *named,
    struct program_found *found);

/* Only the two paths of a rule's program, no digest. */
int program_resolve(const struct program_search *search, const char *name, const char *path,
    struct resolved *resolved);

#endif
