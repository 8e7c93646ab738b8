#ifndef LEAVE_H
#define LEAVE_H

/* What pid 1 of a job gives up before it mounts. */
#include "cage.h"

/*
 * In the template's directory, under the slot's init uid, tied to the keeper's life, closed to
 * everybody of that uid; read back.  0, or -1 with errno.
 */
int leave_executor(const struct cage *cage);

/* A session, a session keyring and a host name of its own.  0, or -1 with errno. */
int leave_host(void);

#endif
