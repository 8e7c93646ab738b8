#ifndef CAGE_H
#define CAGE_H

/* The executor's own cage: what its child goes through before it is the executor. */
#include "launch.h"

/*
 * An ordinary user: ends the start where this kernel gives no user namespace, before anything is made.  There is no
 * cage without one, whatever a policy's minimum leaves out; SECURITY.md says why.  Root has nothing to ask here:
 * cage_enter() makes the one that there is.
 */
void cage_require(const struct launch *launch);

/*
 * Root: mount namespace with the box, then one user namespace with network, IPC and host
 * name of its own, in which no further one can be made; another uid that keeps SYS_ADMIN
 * SETUID SETGID SETPCAP KILL there.  With a network in the bounds also NET_ADMIN; with
 * tcp-ports the network stays the host's.  sync_fd: a socket to launch, which writes the maps.
 * Ordinary user: only no_new_privs; the executor makes its namespace itself.
 */
void cage_enter(const struct launch *launch, int sync_fd);

/* Launch's side: wait for the namespace of `pid`, write its maps.  False with errno; EPIPE: the child has failed. */
bool cage_write_maps(const struct launch *launch, pid_t pid, int sync_fd);

#endif
