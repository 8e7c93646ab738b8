#ifndef HOOKS_H
#define HOOKS_H

/*
 * The policy's hooks: each event that one listens to becomes a job of its own, which the policy
 * and no person approves.  It is proposed, approved, dispatched and run on record as every job is:
 * nothing runs that the log does not hold first.  What tells it apart there: source "hook" and the
 * event in job.proposed, "by": "policy" with the policy's digest in job.approved.
 *
 * It works where the job of the event works, in the same cage, with the event as one line of JSON
 * on standard input, which is part of its plan.  One runs at a time, in the order of the events, by
 * the side of the workers; a held queue holds them too.  LIMIT_HOOKS_WAITING wait; an event beyond
 * is not told, and every later one says how many never were.  A hook's own events raise none, it is
 * tried once, and how it ends changes nothing else.
 */
#include <stdint.h>

#include "letters.h"

struct broker;

/* At the start: how far they have been told, and what came after. */
void hooks_load(struct broker *broker);
void hooks_catch_up(struct broker *broker);

/* Inside a transaction: another policy is in force from this record on; its hooks hear what follows. */
void hooks_renew(struct broker *broker, uint64_t sn);

/* This record is durable: propose what listens to it. */
void hooks_recorded(struct broker *broker, const struct letter *letter);

/* Take the next step of the run that is next, if one may be taken. */
void hooks_tick(struct broker *broker);

void hooks_close(struct broker *broker);

/* {"configured","waiting","failed","skipped"} */
struct json;
void hooks_add_status(struct broker *broker, struct json *object);

#endif
