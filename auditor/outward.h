#ifndef OUTWARD_H
#define OUTWARD_H

/* Checkpoints on their way to the courier, its answers, and the runs that wait for them. */
#include <stdbool.h>
#include <stdint.h>

struct auditor;
struct message;

/* Tie the courier, if there is one. */
void outward_begin(struct auditor *auditor);

/* After a round's commit: send what is due, let go who has waited, tell the broker. */
void outward_tend(struct auditor *auditor, bool sealed);

/* When outward_tend() is due though nothing came, CLOCK_MONOTONIC; UINT64_MAX: never. */
uint64_t outward_deadline(const struct auditor *auditor);

/* What the courier says, true when it said something; its end is noted, and nobody else's. */
bool outward_hear(struct auditor *auditor);

/*
 * The permit of an intent at this line, from now on: it is answered when a quorum of witnesses has
 * cosigned a seal over it, or refused when they have not in time.  False: nobody is to be waited for.
 */
bool outward_withhold(struct auditor *auditor, const struct message *permit);

/* Before the log is closed: cosignatures that are not on record yet. */
void outward_record_rest(struct auditor *auditor);

#endif
