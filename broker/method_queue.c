/* job.hold, job.release, queue.hold, queue.release, queue.prune: an operator orders the queue. */
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "text.h"

#include "broker.h"
#include "job.h"
#include "methods.h"
#include "needs.h"
#include "params.h"
#include "order.h"

#define PRUNED_AT_ONCE 100 /* jobs of one request: each is a record; the client asks again */

/* --- hold --- */

static void
set_held(struct operation *operation, bool held)
{
	static const char *const names[] = { "job_id", NULL };
	struct record_who who = methods_who(operation, NULL);
	struct job job;

	if (!methods_may_change(operation) || !params_known(operation, names, false) ||
	    !params_job(operation, &job))
		return;
	if (!job_is_waiting(job.status)) {
		operation_refuse(operation, "invalid_job_state",
		    "a job that is %s can neither be held nor released", job_status_name(job.status));
	} else if (job.held == held) {
		methods_answer_job(operation);
	} else {
		job.held = held;
		job.updated_us = (int64_t)clock_realtime_us();
		methods_answer_job_after(operation, methods_step(operation->broker, &job,
		    held ? "job.held" : "job.released", record_step(&job, &who), false, NULL));
	}
	jobs_free(&job);
}

void
method_job_hold(struct operation *operation)
{
	set_held(operation, true);
}

void
method_job_release(struct operation *operation)
{
	set_held(operation, false);
}

static void
answer_paused(struct operation *operation)
{
	struct json *answer = json_object();
	struct jobs_counts counts = jobs_count(operation->broker->store);

	json_add_boolean(answer, "held", operation->broker->paused);
	json_add_integer(answer, "running", counts.running);
	operation_answer(operation, answer);
}

/* What runs goes on; nothing new begins, also after a new start. */
static void
set_paused(struct operation *operation, bool paused)
{
	static const char *const nothing[] = { NULL };
	struct record_who who = methods_who(operation, NULL);
	struct broker *broker = operation->broker;
	uint64_t sn;

	if (!methods_may_change(operation) || !params_known(operation, nothing, false))
		return;
	if (broker->paused == paused) {
		answer_paused(operation);
		return;
	}
	store_begin(broker->store);
	order_pause(broker, paused);
	sn = outbox_add(&broker->outbox, paused ? "queue.held" : "queue.released",
	    record_queue(&who), false, 0);
	outbox_commit(&broker->outbox);
	operation_await_record(operation, sn, answer_paused);
}

void
method_queue_hold(struct operation *operation)
{
	set_paused(operation, true);
}

void
method_queue_release(struct operation *operation)
{
	set_paused(operation, false);
}

/* --- prune --- */

struct prune {
	struct operation *operation;
	int64_t seqs[PRUNED_AT_ONCE];
	size_t count;
	bool more;
};

static bool
collect(void *context, struct job *job)
{
	struct prune *prune = context;

	prune->more = prune->count == PRUNED_AT_ONCE;
	if (!prune->more)
		prune->seqs[prune->count++] = job->seq;
	return !prune->more;
}

static void
add_run(void *context, const struct attempt *attempt)
{
	struct json *pair = json_add_array(context, NULL);

	json_add_integer(pair, NULL, attempt->number);
	json_add_integer(pair, NULL, attempt->slot);
}

/* The runs go on record with it: when that is durable their folders go (dispatch.c). */
static void
prune_one(struct operation *operation, int64_t seq)
{
	struct broker *broker = operation->broker;
	struct record_who who = methods_who(operation, NULL);
	struct json *runs = json_array();
	struct job job;

	if (!jobs_by_seq(broker->store, seq, &job))
		fatal("store: a job is gone");
	attempts_each(broker->store, seq, add_run, runs);
	outbox_add(&broker->outbox, "job.pruned", record_pruned(&job, &who, runs), false, 0);
	jobs_remove(broker->store, seq);
	jobs_free(&job);
}

static void
answer_pruned(struct operation *operation)
{
	struct json *answer = json_object();

	json_add_integer(answer, "pruned", (int64_t)operation->count);
	json_add_boolean(answer, "more", operation->more);
	operation_answer(operation, answer);
}

static bool
read_prune(struct operation *operation, int64_t *before_us, uint32_t *statuses)
{
	static const char *const names[] = { "older_than_seconds", "status", NULL };
	const uint32_t finished = 1u << JOB_SUCCEEDED | 1u << JOB_FAILED | 1u << JOB_CANCELLED |
	    1u << JOB_DEAD_LETTER | 1u << JOB_LOST;
	int64_t seconds;

	if (!params_known(operation, names, false) ||
	    !params_integer(operation, "older_than_seconds", 0, 3153600000, -1, &seconds) ||
	    !params_bits(operation, "status", "succeeded, failed, cancelled, dead_letter, lost",
	        job_status_of, statuses))
		return false;
	if (seconds < 0 || (*statuses & ~finished)) {
		operation_refuse(operation, "invalid_input",
		    "prune needs older_than_seconds, and takes only jobs that have ended");
		return false;
	}
	*statuses = *statuses ? *statuses : finished;
	*before_us = (int64_t)clock_realtime_us() - seconds * 1000000;
	return true;
}

void
method_queue_prune(struct operation *operation)
{
	struct broker *broker = operation->broker;
	struct prune prune = { .operation = operation };
	int64_t before_us;
	uint32_t statuses;

	if (!methods_may_change(operation) || !read_prune(operation, &before_us, &statuses))
		return;
	jobs_each_old(broker->store, before_us, statuses, collect, &prune);
	operation->count = prune.count;
	operation->more = prune.more;
	if (prune.count == 0) {
		answer_pruned(operation);
		return;
	}
	store_begin(broker->store);
	for (size_t i = 0; i < prune.count; i++)
		prune_one(operation, prune.seqs[i]);
	outbox_commit(&broker->outbox);
	operation_await_record(operation, broker->outbox.next_sn - 1, answer_pruned);
}
