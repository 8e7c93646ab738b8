#ifndef WORKDIR_H
#define WORKDIR_H

/*
 * Is the working directory still the approved one?  Device, inode, birth time and file handle:
 * inode numbers are reused at once.  0, or -1 with errno (ESTALE: another one).
 */
#include "decode.h"
#include "resolve.h"

/* Of plan only what says which directory: root and cwd and its four marks. */
int workdir_check(const struct resolve_world *world, const struct plan *plan);

#endif
