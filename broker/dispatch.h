#ifndef DISPATCH_H
#define DISPATCH_H

/* Runs: from the approved plan to the stored end. */
#include <stdbool.h>
#include <stdint.h>

#include "run.h"

#include "jobs.h"
#include "outbox.h"

struct broker;

bool dispatch_has_slot(const struct broker *broker);

/*
 * Inside no transaction: the approved job becomes running in the lowest free slot, with its
 * attempt and its record in one transaction.  The plan leaves when that record is durable.
 */
void dispatch_begin(struct broker *broker, struct job *job, const char *worker);

/* A record of this job is durable: do what it announces. */
void dispatch_recorded(struct broker *broker, const struct letter *letter);

/* After the start: what became of these runs? */
void dispatch_load(struct broker *broker);
void dispatch_ask(struct broker *broker);
/* Every question has an answer, or none can be asked while the log takes no record. */
bool dispatch_is_known(const struct broker *broker);

/* What the executor says; repeats change nothing. */
void dispatch_started(struct broker *broker, const struct msg_run_started *started);
void dispatch_ended(struct broker *broker, const struct run_name *run, const struct run_end *end);
void dispatch_lives(struct broker *broker, const struct run_name *run);
void dispatch_lost(struct broker *broker, const struct run_name *run);

/* Once what it said is stored: RUN_COLLECTED for every end among it. */
void dispatch_tell_collected(struct broker *broker);

#endif
