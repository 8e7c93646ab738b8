/* Runs: from the approved plan to the stored end. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "digest.h"
#include "fields.h"
#include "log.h"
#include "scope.h"
#include "text.h"

#include "broker.h"
#include "dispatch.h"
#include "ending.h"
#include "job.h"
#include "record.h"

static int
free_slot(const struct broker *broker)
{
	for (unsigned i = 0; i < broker->boot.slot_count; i++)
		if (!broker->slots[i].used)
			return (int)i;
	return -1;
}

bool
dispatch_has_slot(const struct broker *broker)
{
	return free_slot(broker) >= 0;
}

static void
occupy(struct broker *broker, const struct job *job)
{
	struct slot *slot = &broker->slots[job->slot];

	*slot = (struct slot){ .used = true, .job = job->seq,
	    .run = { .attempt = (uint32_t)job->runs, .slot = (uint32_t)job->slot } };
	memcpy(slot->run.job, job->id.at, sizeof(slot->run.job));
	slot->group = bytes_text(job->group_name);
	slot->mutex = bytes_text(job->mutex);
	slot->hook = job->hook != NULL;
}

static void
vacate(struct slot *slot)
{
	free(slot->group);
	free(slot->mutex);
	*slot = (struct slot){ 0 };
}

static void
add_attempt(struct broker *broker, const struct job *job, uint64_t sn)
{
	struct attempt attempt = { .job = job->seq, .number = job->runs, .slot = job->slot,
	    .digest = job->approved_sha256,
	    .boot_id = { .at = broker->boot_id, .length = sizeof(broker->boot_id) },
	    .dispatch_sn = (int64_t)sn, .worker = job->worker,
	    .dispatched_us = job->updated_us, .exit_code = -1 };

	attempts_add(broker->store, &attempt); /* borrows the job's texts: nothing to free */
}

void
dispatch_begin(struct broker *broker, struct job *job, const char *worker)
{
	struct slot *slot;
	uint64_t sn;

	job->slot = free_slot(broker);
	if (job->slot < 0 || !job_take(STEP_DISPATCH, &job->status, &job->approval))
		fatal("dispatch: job %lld cannot run now", (long long)job->seq);
	job->attempts++;
	job->runs++;
	job->updated_us = (int64_t)clock_realtime_us();
	job->cancel_us = 0;
	free(job->worker);
	job->worker = bytes_text(worker);
	free(job->error_class);
	job->error_class = NULL;
	occupy(broker, job);
	slot = &broker->slots[job->slot];
	store_begin(broker->store);
	sn = outbox_add(&broker->outbox, "job.dispatch",
	    record_dispatch(job, &slot->run, job->approved_sha256.at), false, job->seq);
	job->effect_sn = (int64_t)sn;
	jobs_change(broker->store, job);
	add_attempt(broker, job, sn);
	outbox_commit(&broker->outbox);
	operation_job_changed(broker, job->id.at);
}

static void
send_run(struct broker *broker, enum message_type type, const struct run_name *run)
{
	struct message message = { .type = type };

	store_flush(broker->store);
	/* The payloads of these three are one run_name. */
	message.body.run_cancel.run = *run;
	channel_must_send(&broker->executor, &message);
}

_Static_assert(sizeof(struct msg_run_cancel) == sizeof(struct run_name) &&
    sizeof(struct msg_run_ask) == sizeof(struct run_name) &&
    sizeof(struct msg_run_collected) == sizeof(struct run_name), "one run_name");

/* The dispatch is on record: the plan leaves. */
static void
send_plan(struct broker *broker, const struct job *job, const struct run_name *run)
{
	struct message message = { .type = MSG_RUN_START };
	struct msg_run_start *start = &message.body.run_start;
	scoped_close int fd = sealed_make("plan", job->plan.at, job->plan.length);

	if (fd < 0)
		fatal("dispatch: %s", strerror(errno));
	store_flush(broker->store);
	start->run = *run;
	memcpy(start->digest, job->approved_sha256.at, sizeof(start->digest));
	message.descriptors[0] = fd;
	channel_must_send(&broker->executor, &message);
}

/*
 * The plan leaves.  Of one that was found at the start nobody knows whether it had left before: the
 * executor begins nothing twice, and is asked what became of it.
 */
static void
hand_over(struct broker *broker, const struct job *job, struct slot *slot)
{
	slot->due = slot->unsettled = false;
	send_plan(broker, job, &slot->run);
	if (slot->asked)
		send_run(broker, MSG_RUN_ASK, &slot->run);
}

/* After a new start the auditor may be quicker with its answer than the executor. */
static void
start(struct broker *broker, const struct job *job)
{
	struct slot *slot = &broker->slots[job->slot];

	if (broker->executor_ready)
		hand_over(broker, job, slot);
	else
		slot->due = true;
}

void
dispatch_recorded(struct broker *broker, const struct letter *letter)
{
	bool starts = strcmp(letter->type, "job.dispatch") == 0;
	bool cancels = strcmp(letter->type, "job.cancel_requested") == 0;
	struct attempt attempt;
	struct job job;

	if (!starts && !cancels)
		return;
	if (!jobs_by_seq(broker->store, letter->job, &job) || job.status != JOB_RUNNING) {
		jobs_free(&job);
		return;
	}
	if (!attempts_one(broker->store, job.seq, job.runs, &attempt))
		fatal("dispatch: job %lld runs without an attempt", (long long)job.seq);
	if (starts && attempt.dispatch_sn == (int64_t)letter->sn)
		start(broker, &job);
	else if (cancels && broker->executor_ready &&
	    outbox_is_settled(&broker->outbox, (uint64_t)attempt.dispatch_sn))
		send_run(broker, MSG_RUN_CANCEL, &broker->slots[job.slot].run);
	attempts_free(&attempt);
	jobs_free(&job);
}

/* --- after the start --- */

static bool
load_running(void *context, struct job *job)
{
	struct broker *broker = context;
	struct attempt attempt;

	if (job->slot < 0 || broker->slots[job->slot].used ||
	    !attempts_one(broker->store, job->seq, job->runs, &attempt))
		fatal("store: job %lld runs without a slot or an attempt of its own",
		    (long long)job->seq);
	occupy(broker, job);
	broker->slots[job->slot].asked = true;
	broker->slots[job->slot].unsettled =
	    !outbox_is_settled(&broker->outbox, (uint64_t)attempt.dispatch_sn);
	attempts_free(&attempt);
	return true;
}

void
dispatch_load(struct broker *broker)
{
	jobs_each_running(broker->store, load_running, broker);
}

/* A cancel that is on record; one that is not yet follows when it is. */
static void
repeat_cancel(struct broker *broker, const struct job *job, const struct run_name *run)
{
	if (job->cancel_us && outbox_is_settled(&broker->outbox, (uint64_t)job->effect_sn))
		send_run(broker, MSG_RUN_CANCEL, run);
}

static void
start_due(struct broker *broker, struct slot *slot)
{
	struct job job;

	if (!jobs_by_seq(broker->store, slot->job, &job))
		fatal("store: the job of a slot is gone");
	hand_over(broker, &job, slot);
	repeat_cancel(broker, &job, &slot->run);
	jobs_free(&job);
}

void
dispatch_ask(struct broker *broker)
{
	for (unsigned i = 0; i < LIMIT_SLOTS; i++) {
		if (broker->slots[i].due)
			start_due(broker, &broker->slots[i]);
		else if (broker->slots[i].asked && !broker->slots[i].unsettled)
			send_run(broker, MSG_RUN_ASK, &broker->slots[i].run);
	}
}

bool
dispatch_is_known(const struct broker *broker)
{
	const char *why;
	bool accepts = outbox_accepts(&broker->outbox, &why);

	for (unsigned i = 0; i < LIMIT_SLOTS; i++)
		if (broker->slots[i].asked && (accepts || !broker->slots[i].unsettled))
			return false;
	return true;
}

/* --- what the executor says --- */

/* The slot where this run is, or NULL. */
static struct slot *
slot_of(struct broker *broker, const struct run_name *run)
{
	struct slot *slot;

	if (run->slot >= LIMIT_SLOTS)
		return NULL;
	slot = &broker->slots[run->slot];
	return slot->used && memcmp(&slot->run, run, sizeof(*run)) == 0 ? slot : NULL;
}

/*
 * What is said of a run that was found at the start says nothing before its plan has left again: a
 * power cut may have taken back that it left, and the executor is asked after it then.
 */
static bool
is_early(struct broker *broker, const struct run_name *run)
{
	const struct slot *slot = slot_of(broker, run);

	return slot && slot->unsettled;
}

/* The running job and its attempt, which must have been handed over; false: it has ended before. */
static bool
find_run(struct broker *broker, const struct run_name *run, struct job *job,
    struct attempt *attempt)
{
	struct slot *slot = slot_of(broker, run);

	if (!slot || is_early(broker, run))
		return false;
	if (!jobs_by_seq(broker->store, slot->job, job) ||
	    !attempts_one(broker->store, job->seq, run->attempt, attempt))
		fatal("store: the job of a slot is gone");
	if (!outbox_is_settled(&broker->outbox, (uint64_t)attempt->dispatch_sn))
		fatal("breach by executor: it speaks of a run that was never handed over");
	slot->asked = false;
	return true;
}

void
dispatch_started(struct broker *broker, const struct msg_run_started *started)
{
	struct attempt attempt;
	struct job job;

	if (!find_run(broker, &started->run, &job, &attempt))
		return;
	if (attempt.started_us == 0) {
		attempt.started_us = (int64_t)started->started_us;
		attempt.layers = (int64_t)started->layers;
		if (attempt.started_us <= 0 || attempt.layers < 0)
			fatal("breach by executor: RUN_STARTED at no time");
		/* Not synced: the log has it, and the end tells it again. */
		store_begin_unsynced(broker->store);
		attempts_change(broker->store, &attempt);
		store_commit(broker->store);
	}
	attempts_free(&attempt);
	jobs_free(&job);
}

void
dispatch_ended(struct broker *broker, const struct run_name *run, const struct run_end *end)
{
	struct attempt attempt;
	struct job job;

	if (is_early(broker, run))
		return;
	if (find_run(broker, run, &job, &attempt)) {
		ending_store(broker, &job, &attempt, end);
		vacate(&broker->slots[run->slot]);
		operation_job_changed(broker, job.id.at);
		operation_run_ended(broker);
		attempts_free(&attempt);
		jobs_free(&job);
	} else
		log_info("a run that had ended before was told again");
	if (broker->collected_count == LIMIT_SLOTS)
		dispatch_tell_collected(broker);
	broker->collected[broker->collected_count++] = *run;
}

void
dispatch_tell_collected(struct broker *broker)
{
	for (unsigned i = 0; i < broker->collected_count; i++)
		send_run(broker, MSG_RUN_COLLECTED, &broker->collected[i]);
	broker->collected_count = 0;
}

void
dispatch_lives(struct broker *broker, const struct run_name *run)
{
	struct attempt attempt;
	struct job job;

	if (!find_run(broker, run, &job, &attempt))
		return;
	repeat_cancel(broker, &job, run);
	attempts_free(&attempt);
	jobs_free(&job);
}

void
dispatch_lost(struct broker *broker, const struct run_name *run)
{
	struct run_end end = { .outcome = OUTCOME_LOST, .exit_code = -1 };

	dispatch_ended(broker, run, &end);
}
