#ifndef LEAVE_H
#define LEAVE_H

/*
 * What pid 1 of a job leaves behind before it makes the cage; each step is read back.  Async-signal-safe.
 * Both: 0, or -1 with errno.
 */
#include "cage.h"

/*
 * Its mounts are its own, it stands in the template, to which only the executor's uid may walk; then it is the
 * slot's init, not dumpable, and dies with the keeper.
 */
int leave_identity(const struct cage *cage);

/* Session, keyring and host name of its own. */
int leave_host(void);

#endif
