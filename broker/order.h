#ifndef ORDER_H
#define ORDER_H

/*
 * Why an approved job is not dispatched yet although its time has come: held by an operator,
 * another job must end before, its group is full, its key is taken.  And what the end of a job
 * means for those that wait for it.
 */
#include <stdbool.h>
#include <stdint.h>

#include "jobs.h"

struct broker;
struct json;

#define ORDER_NEEDS_MOST 16 /* jobs that one job can wait for */

/* What another job must have done.  The numbers are stored. */
enum order_want {
	ORDER_WANT_OK = 1,
	ORDER_WANT_ANY,
	ORDER_WANT_NOT_OK,
};

enum order_block {
	ORDER_HELD = 1 << 0,        /* the job */
	ORDER_PAUSED = 1 << 1,      /* all of them */
	ORDER_NEEDS = 1 << 2,
	ORDER_GROUP = 1 << 3,
	ORDER_MUTEX = 1 << 4,
	ORDER_PASSES = ORDER_GROUP | ORDER_MUTEX, /* end when another job does: worth waiting for */
};

/* Bits of enum order_block; 0: it may run. */
uint32_t order_blocks(const struct broker *broker, const struct job *job);

/* Their names into an array: "hold", "paused", "job", "group", "mutex". */
void order_add_names(struct json *names, uint32_t blocks);

/* Inside a transaction, for a stored job: it waits for another.  False: that one has ended otherwise. */
bool order_need(struct broker *broker, struct job *job, const struct job *on, enum order_want want);

/*
 * Inside the transaction in which a job ended: whoever waited for this end may run; who waited
 * for another one is dead, and so on.
 */
void order_job_ended(struct broker *broker, const struct job *job);

/*
 * Inside a transaction, for an approved job that waits, once it is written: job.queued, behind the
 * record of what brought it there.  cause: see record_queued().
 */
void order_enter(struct broker *broker, const struct job *job, const char *cause);

/* Hold or release the whole queue, inside a transaction. */
void order_pause(struct broker *broker, bool paused);

/* Needs of a job as JSON: [{"job_id","want","met"}]. */
void order_add_needs(struct broker *broker, const struct job *job, struct json *list);

/* "ok", "any", "notok"; 0: none of them. */
enum order_want order_want_of(const char *name);

/* Is it time for this job, by the clock on the wall? */
bool order_is_due(const struct job *job);

#endif
