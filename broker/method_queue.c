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
		methods_answer_job_after(operation, methods_step_into_queue(operation->broker, &job,
		    held ? "job.held" : "job.released", record_step(&job, &who), false, NULL,
		    !held && job.approval == APPROVAL_APPROVED ? "released" : NULL));
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
	sn = outbox_add(&broker->outbox, paused ? "queue.paused" : "queue.resumed",
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
	int64_t before_us;      /* what ended before goes; INT64_MIN: nothing by its age */
	int64_t free_bytes;     /* so much is to be freed in all; 0: nothing by its size */
	uint32_t statuses;
	bool dry;               /* look only */
	int64_t seqs[PRUNED_AT_ONCE];
	size_t count;
	int64_t bytes;          /* that go with them */
	bool more;
};

/* The oldest go first, until what is to be freed is free; an old one goes anyway. */
static bool
collect(void *context, const struct jobs_ended *ended)
{
	struct prune *prune = context;

	if (ended->updated_us >= prune->before_us && prune->bytes >= prune->free_bytes)
		return true;
	prune->more = !prune->dry && prune->count == PRUNED_AT_ONCE;
	if (prune->more)
		return false;
	if (!prune->dry)
		prune->seqs[prune->count] = ended->seq;
	prune->count++;
	prune->bytes += ended->bytes;
	return true;
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
	/* What was removed is overwritten in the database, and is not left in its write-ahead log. */
	store_flush(operation->broker->store);
	store_tidy(operation->broker->store, STORE_TIDY_NOW);
	operation_answer(operation, operation->answer);
	operation->answer = NULL;
}

/* What is to be freed: so much, or so much that no more than max_bytes is left. */
static bool
read_size(struct operation *operation, struct prune *prune)
{
	int64_t most, used;

	if (!params_integer(operation, "max_bytes", 0, INT64_MAX, -1, &most) ||
	    !params_integer(operation, "free_bytes", 0, INT64_MAX, 0, &prune->free_bytes))
		return false;
	if (most < 0)
		return true;
	used = jobs_disk_bytes(operation->broker->store);
	prune->free_bytes = used > most ? used - most : 0;
	return true;
}

static bool
read_prune(struct operation *operation, struct prune *prune)
{
	static const char *const names[] = { "older_than_seconds", "max_bytes", "free_bytes", "status",
		"dry_run", NULL };
	const uint32_t finished = 1u << JOB_SUCCEEDED | 1u << JOB_FAILED | 1u << JOB_CANCELLED |
	    1u << JOB_DEAD_LETTER | 1u << JOB_LOST;
	const struct json *params = operation->request.params;
	int64_t seconds;

	if (!params_known(operation, names, false) ||
	    !params_integer(operation, "older_than_seconds", 0, 3153600000, -1, &seconds) ||
	    !params_boolean(operation, "dry_run", false, &prune->dry) ||
	    !params_bits(operation, "status", "succeeded, failed, cancelled, dead_letter, lost",
	        job_status_of, &prune->statuses))
		return false;
	if ((seconds < 0 && !json_get(params, "max_bytes") && !json_get(params, "free_bytes")) ||
	    (prune->statuses & ~finished)) {
		operation_refuse(operation, "invalid_input", "prune needs older_than_seconds, max_bytes or "
		    "free_bytes, and takes only jobs that have ended");
		return false;
	}
	prune->statuses = prune->statuses ? prune->statuses : finished;
	/* Everything is older than no time at all, also what a clock that was set back says is to come. */
	prune->before_us = seconds < 0 ? INT64_MIN : seconds == 0 ? INT64_MAX :
	    (int64_t)clock_realtime_us() - seconds * 1000000;
	return read_size(operation, prune);
}

static struct json *
describe(const struct prune *prune)
{
	struct json *answer = json_object();
	int64_t left = prune->free_bytes - prune->bytes;

	json_add_integer(answer, "pruned", (int64_t)prune->count);
	json_add_integer(answer, "bytes", prune->bytes);
	json_add_integer(answer, "left_bytes", left > 0 ? left : 0);
	json_add_boolean(answer, "dry_run", prune->dry);
	json_add_boolean(answer, "more", prune->more);
	return answer;
}

void
method_queue_prune(struct operation *operation)
{
	struct broker *broker = operation->broker;
	struct prune prune = { 0 };

	if (!methods_may_change(operation) || !read_prune(operation, &prune))
		return;
	jobs_each_ended(broker->store, prune.statuses, collect, &prune);
	if (prune.count == 0 || prune.dry) {
		operation_answer(operation, describe(&prune));
		return;
	}
	store_begin(broker->store);
	for (size_t i = 0; i < prune.count; i++)
		prune_one(operation, prune.seqs[i]);
	outbox_commit(&broker->outbox);
	operation->answer = describe(&prune);
	operation_await_record(operation, broker->outbox.next_sn - 1, answer_pruned);
}
