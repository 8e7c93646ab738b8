#ifndef WORKERS_H
#define WORKERS_H

/*
 * The broker's own workers (queue.workers of the policy): each is a job.work of its own, so there
 * is one way to claim a job.
 */
#include <stdint.h>

struct broker;

/* Something changed: there may be work, for the workers or for a hook. */
void workers_wake(struct broker *broker);

/* Start what may be started; the next moment to call this (monotonic us), 0: none. */
uint64_t workers_tick(struct broker *broker);

#endif
