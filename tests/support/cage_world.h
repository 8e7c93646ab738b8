#ifndef CAGE_WORLD_H
#define CAGE_WORLD_H

/*
 * What launch does before and after: the scratch world of a cage rig.  Each function ends the test
 * program on failure.
 */
#include "cage_rig.h"

_Noreturn void cage_world_fail(const char *what);

/* The same, with what the executor said last. */
_Noreturn void cage_world_give_up(const struct cage_rig *rig, const char *what);

#define CAGE_WORLD_PATIENCE_MS 30000

/*
 * The next message to the broker; what comes for the auditor is answered on the way.  False at
 * the deadline.
 */
bool cage_rig_hear(struct cage_rig *rig, struct message *message, uint64_t deadline_us);

void cage_world_make(struct cage_rig *rig);

/* Start the executor with the channels' other ends; closes them here. */
void cage_world_start(struct cage_rig *rig, int broker, int auditor);

/* Kill what is left in the run's cgroups, remove everything. */
void cage_world_remove(struct cage_rig *rig);

#endif
