#ifndef MOUNTED_H
#define MOUNTED_H

/* What is mounted where, of /proc/self/mountinfo. */
#include <stdint.h>
#include <stdio.h>

#include "boot.h"

/* Undo \040 and its like (space, tab, newline, backslash) of mountinfo, in place. */
void mounted_unescape(char *text);

/*
 * May a job see this root without an idmapped mount?  The kernel idmaps no filesystem that is a window into
 * itself (proc, sysfs, cgroup ...); without that somebody else must keep them out.  Looks at the root's own
 * filesystem and at all that are mounted below.  NULL, or the type of one that holds no files of people; type:
 * LIMIT_PATH bytes for it, "unknown" when mountinfo does not tell.
 */
const char *mounted_odd_type(const struct boot_root *root, int root_fd, char type[LIMIT_PATH]);

/* The same of this file, for `path` on the mount with ID `own`. */
const char *mounted_find_odd(FILE *mountinfo, uint64_t own, const char *path, char type[LIMIT_PATH]);

#endif
