#ifndef PRUNING_H
#define PRUNING_H

/*
 * The run folders of forgotten jobs.  The executor is told to remove them when the record job.pruned
 * is durable, as fast as it listens: the records are the queue.  An order can get lost with either
 * process, and removing twice changes nothing: a new start gives the newest orders once more.
 */
#include <stdint.h>

#include "letters.h"

struct broker;

void pruning_load(struct broker *broker);

/* A record is durable. */
void pruning_recorded(struct broker *broker, const struct letter *letter);

/* Give the orders that may be given now; the next moment to call this again (monotonic us), 0: none. */
uint64_t pruning_tick(struct broker *broker);

#endif
