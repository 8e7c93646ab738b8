#ifndef MANAGER_H
#define MANAGER_H

/*
 * Where systemd runs this host nobody else may divide a cgroup that it did not give away, and a login session, or a
 * service that starts anew while jobs of the last one live, cannot be divided at all (cgroups(7), "no internal
 * processes").  So the trio asks for one of its own: the unit agent-safe-ID.scope with Delegate=yes, of the system's
 * manager as root, of the account's own manager else.  It is there as long as a process is in it, a keeper included.
 */
#include <stdbool.h>

#include "launch.h"

#define MANAGER_UNIT_BYTES 240 /* agent-safe-ID.scope and the NUL */

/*
 * Is there a manager to ask?  unit: what the scope is called.  Nothing has been done yet.
 */
bool manager_find(const struct launch *launch, char unit[MANAGER_UNIT_BYTES]);

/*
 * Move this process into the scope, made now or still there; it has a subgroup daemons/ then, where we are.
 * false, with a warning: nothing has changed.  Waits for the manager, at most some seconds.
 */
bool manager_enter_scope(const struct launch *launch, const char *unit);

#endif
