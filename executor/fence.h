#ifndef FENCE_H
#define FENCE_H

/*
 * Landlock rules of a job: reading and executing in the system trees, everything in the
 * workspace and /tmp, nothing elsewhere; of the network what landlock_job() says, and connections
 * to the ports of the plan; signals and abstract sockets stay inside.
 * Rights that the kernel's ABI does not know are left out; the floor was checked before.
 * Async-signal-safe.
 */
#include "cage.h"

/* Inside the cage, as the job, with no_new_privs.  0, or -1 with errno. */
int fence_close(const struct cage *cage);

#endif
