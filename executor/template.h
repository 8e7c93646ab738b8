#ifndef TEMPLATE_H
#define TEMPLATE_H

/*
 * The prepared root of every cage: a small read-only tmpfs with the host's system trees, a
 * chosen /etc, five devices and the empty directories that each job gets its own mounts on.
 * Made once; every job's mount namespace is a copy that already has it.
 */
#include "boot.h"

#include "identity.h"

/*
 * What masks parts of /proc, on a mount of its own that is read-only and noexec.  In a job it lies below that
 * job's own /tmp, which is mounted after /proc.
 */
#define TEMPLATE_MASKS "tmp"
#define TEMPLATE_MASK_FILE TEMPLATE_MASKS "/file"
#define TEMPLATE_MASK_DIRECTORY TEMPLATE_MASKS "/directory"

/* A file that everybody may read and that no Landlock rule of a job covers (fence_probe.c). */
#define TEMPLATE_PROBE "run/fence"

/* Make it.  job, init: of each slot.  Ends the process on failure: no cage can be built then. */
void template_make(const struct boot *boot, const struct identity *jobs,
    const struct identity *inits);

/*
 * System trees of this host that are directories, not links: "/usr", and "/bin" ... where they were
 * not merged.  NULL-ended.
 */
const char *const *template_trees(void);

/* Does this canonical path lie in a tree that every cage shows read-only? */
bool template_shows(const char *path);

#endif
