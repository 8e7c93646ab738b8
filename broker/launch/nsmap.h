#ifndef NSMAP_H
#define NSMAP_H

/* User namespaces and their maps.  Only root can write these maps. */
#include <sys/types.h>

#include <stdbool.h>

#include "launch.h"

/*
 * A user namespace for an idmapped mount: what `disk` owns on disk is seen, and
 * made, as `seen`.  Everybody else's stays theirs: an owner or group that the mount
 * did not know would make a file that nobody can change or remove, and a folder that
 * gives its group to what is made in it one where nothing can be made.
 * A descriptor, or -1 with errno.
 */
int nsmap_for_mount(struct identity disk, struct identity seen);

/*
 * Map the executor's uid and gid, those of all slots and of the owners of roots with ROOT_RUN_AS_OWNER,
 * nothing else, into the namespace of `pid`.
 */
bool nsmap_write_executor(pid_t pid, const struct launch *launch);

#endif
