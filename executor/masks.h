#ifndef MASKS_H
#define MASKS_H

#include "profile.h"

/*
 * PROC_PIDS: processes alone, and only the job's own.  PROC_MASKED: a fresh /proc with what a job
 * must not see or change covered by empty read-only mounts, and /proc/sys read-only.  Standing in
 * the template, not yet the root.  0, or -1 with errno.  Async-signal-safe.
 */
int masks_mount_proc(enum profile_proc kind);

#endif
