#ifndef MASKS_H
#define MASKS_H

/*
 * A fresh /proc with what a job must not see or change covered by empty read-only mounts, and
 * /proc/sys read-only.  Standing in the template, not yet the root.  0, or -1 with errno.
 * Async-signal-safe.
 */
int masks_mount_proc(void);

#endif
