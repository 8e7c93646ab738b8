#ifndef STATE_H
#define STATE_H

/* The state folder: its lock, its parts, each with the owner and mode that its room needs. */
#include "launch.h"

/*
 * Make the state folder and lock it for the trio.  False: a trio holds the lock and
 * answers.  Another launch that is just starting one is waited for.
 */
bool state_lock(struct launch *launch);

/* broker, audit/log, audit/key, runs, box; and where the daemons' standard error goes. */
void state_open(struct launch *launch);

/* What depends on the policy: a run folder for each slot, and the files for place_find(). */
void state_record(const struct launch *launch);

#endif
