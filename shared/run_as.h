#ifndef RUN_AS_H
#define RUN_AS_H

/*
 * "run_as": "owner" of a root: its jobs run under uid and gid of the root's directory, which launch puts
 * into the map of the executor's user namespace.  Some ids must never be in it.
 */
#include <sys/types.h>

#include <stdbool.h>
#include <stdint.h>

#include "boot.h"

/* Numbers of our own daemons and slots, of all workspaces that root starts (launch/uids.c). */
#define RUN_AS_FIRST_RESERVED 0x78000000u /* beyond the ranges of containers, below 2^31 */
#define RUN_AS_LAST_RESERVED 0x7fffffffu

/* In a user namespace everybody outside its map looks like this one (DEFAULT_OVERFLOWUID of linux/highuid.h). */
#define RUN_AS_OVERFLOW 65534u

/* Why no job may run under these ids, whoever starts it, or NULL. */
const char *run_as_fault(uid_t uid, gid_t gid);

/* Do jobs of this root run as its owner, where root has started the three? */
bool run_as_owner(const struct boot *boot, const struct boot_root *root);

/* Of the layers that jobs have here: those that jobs of this root (NULL: of none) have. */
uint64_t run_as_layers(const struct boot *boot, const struct boot_root *root, uint64_t layers);

#endif
