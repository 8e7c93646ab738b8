/* job.run and job.work: an approved job is assessed once more and dispatched, or said to be dry. */
#include <stdlib.h>
#include <string.h>

#include "limits.h"
#include "log.h"

#include "assess.h"
#include "broker.h"
#include "dispatch.h"
#include "job.h"
#include "methods.h"
#include "params.h"
#include "present.h"
#include "order.h"
#include "submission.h"
#include "weigh.h"

#define HELD_US 200000 /* before a look at what became of a job that another client holds */

static void run_waits(struct operation *operation);
static void run_assess(struct operation *operation);
static void work_next(struct operation *operation);
static void run_or_wait(struct operation *operation, struct job *job);

/* --- dry --- */

static void
answer_dry(struct operation *operation)
{
	const struct assessment *assessment = operation->assessment;
	struct json *answer, *dry;
	struct job job;

	if (!methods_load(operation, &job))
		return;
	answer = present_job(operation->broker, &job);
	dry = json_add_object(answer, "dry_run");
	json_add_boolean(dry, "policy_allowed", assess_allows(assessment));
	json_add_text(dry, "policy_error", assess_allows(assessment) ? NULL : assessment->reason);
	jobs_free(&job);
	operation_answer(operation, answer);
}

static void
dry_assessed(struct operation *operation)
{
	struct record_who who = methods_who(operation, NULL);
	struct job job;
	uint64_t sn;

	if (!methods_load(operation, &job))
		return;
	sn = methods_note(operation->broker, &job, "job.dry_run",
	    record_verdict(&job, &who, assess_allows(operation->assessment),
	        operation->assessment->reason));
	jobs_free(&job);
	operation_await_record(operation, sn, answer_dry);
}

/* --- real --- */

static bool
is_work(const struct operation *operation)
{
	return strcmp(operation->request.method, "job.work") == 0;
}

static const char *
worker_of(const struct operation *operation)
{
	const char *worker = json_text(json_get(operation->request.params, "worker"));

	if (worker)
		return worker;
	return is_work(operation) ? "worker" : "direct";
}

/* The job ended, or waits for its next try: then so do we. */
static void
run_waits(struct operation *operation)
{
	struct job job;

	if (!methods_load(operation, &job))
		return;
	operation->holds_job = false;
	operation->deadline_us = 0;
	if (job_is_finished(job.status))
		methods_answer_job_after(operation, (uint64_t)job.effect_sn);
	else if (job.status == JOB_RETRY_WAIT) {
		int64_t left_us = order_is_due(&job) ? 0 :
		    job.available_us - (int64_t)clock_realtime_us();

		operation->deadline_us =
		    clock_monotonic_us() + (uint64_t)(left_us > 0 ? left_us : 0) + 1000;
		operation_await(operation, WAIT_JOB, run_assess);
	} else if (job.status == JOB_RUNNING && !outbox_is_settled(&operation->broker->outbox,
	    (uint64_t)job.effect_sn)) /* a log that takes no more is told at once */
		operation_await_record(operation, (uint64_t)job.effect_sn, run_waits);
	else if (job.status == JOB_RUNNING)
		operation_await(operation, WAIT_JOB, run_waits);
	else
		methods_answer_job_after(operation,
		    (uint64_t)job.effect_sn); /* decided anew meanwhile */
	jobs_free(&job);
}

/* Why it cannot begin, and waiting for another run's end would not help: or true. */
static bool
is_free(struct operation *operation, const struct job *job)
{
	uint32_t blocks = order_blocks(operation->broker, job);

	if (blocks & ORDER_HELD)
		operation_refuse(operation, "invalid_job_state", "the job is held: release it first");
	else if (blocks & ORDER_PAUSED)
		operation_refuse(operation, "invalid_job_state", "the queue is held: release it first");
	else if (blocks & ORDER_NEEDS)
		operation_refuse(operation, "invalid_job_state",
		    "the job waits for the end of another one (see \"after\")");
	else
		return true;
	return false;
}

/* There is a slot, and nothing waited since the assessment said yes. */
static void
run_now(struct operation *operation, struct job *job)
{
	dispatch_begin(operation->broker, job, worker_of(operation));
	operation->holds_job = false;
	if (!operation->client) { /* the broker's own worker: the run goes on without it */
		operation_answer(operation, json_object());
		return;
	}
	run_waits(operation);
}

/*
 * The assessment is there.  Whatever it says is weighed against the approval; without a free
 * slot the job is assessed again when there is one, for it may change while it waits.
 */
static void
run_assessed(struct operation *operation)
{
	struct job job;

	if (!methods_load(operation, &job))
		return;
	operation->holds_job = false;
	if (is_work(operation) && (!job_may(STEP_DISPATCH, job.status, job.approval) ||
	    order_blocks(operation->broker, &job) & ~(uint32_t)ORDER_PASSES)) {
		jobs_free(&job);
		work_next(operation); /* somebody took another step: take the next job */
		return;
	}
	if (job_may(STEP_DISPATCH, job.status, job.approval) && !is_free(operation, &job)) {
		jobs_free(&job);
		return;
	}
	switch (weigh_run(operation, &job)) {
	case WEIGH_REFUSED:
		break;
	case WEIGH_BURIED:
		methods_answer_job_after(operation, (uint64_t)job.effect_sn);
		break;
	case WEIGH_GOOD:
		run_or_wait(operation, &job);
	}
	jobs_free(&job);
}

/* Group and key may have been taken since it was chosen: `work` takes the next, `run` waits. */
static void
run_or_wait(struct operation *operation, struct job *job)
{
	bool passes = order_blocks(operation->broker, job) & ORDER_PASSES;

	if (!passes && dispatch_has_slot(operation->broker)) {
		run_now(operation, job);
	} else if (passes && is_work(operation)) {
		work_next(operation);
	} else {
		operation->holds_job = !passes;
		operation_await(operation, WAIT_RUN, run_assess);
	}
}

/* Assess the job that is to run, unless somebody else has taken a step with it. */
static void
run_assess(struct operation *operation)
{
	struct job job;

	if (!methods_load(operation, &job))
		return;
	operation->deadline_us = 0;
	if (job.status == JOB_RETRY_WAIT && !order_is_due(&job))
		run_waits(operation); /* woken by another step */
	else if (!job_is_waiting(job.status) || job.approval != APPROVAL_APPROVED)
		run_waits(operation);
	else if (operation_job_is_held(operation->broker, job.id.at) && !operation->holds_job) {
		/* Another client is about to start it, or about to fail to. */
		operation->deadline_us = clock_monotonic_us() + HELD_US;
		operation_await(operation, WAIT_JOB, run_waits);
	} else {
		operation->holds_job = true;
		assess_begin(operation, &job, run_assessed);
	}
	jobs_free(&job);
}

/* --- run --- */

/* Why `run --execute` cannot begin, or true. */
static bool
may_begin(struct operation *operation, const struct job *job)
{
	if (job->approval == APPROVAL_EXPIRED)
		operation_refuse(operation, "approval_expired",
		    "the approval has expired: approve it again");
	else if (job_is_waiting(job->status) && job->approval != APPROVAL_APPROVED)
		operation_refuse(operation, "approval_required", "the job is not approved");
	else if (!job_is_waiting(job->status))
		operation_refuse(operation, "invalid_job_state", "a job that is %s cannot be run",
		    job_status_name(job->status));
	else if (operation_job_is_held(operation->broker, job->id.at))
		operation_refuse(operation, "invalid_job_state",
		    "another client is about to run this job");
	else if (!is_free(operation, job))
		return false;
	else if (job->status == JOB_QUEUED && !order_is_due(job))
		operation_refuse(operation, "invalid_job_state",
		    "the job is not to run before its time");
	else
		return true;
	return false;
}

static void
begin_run(struct operation *operation)
{
	struct job job;

	if (!methods_load(operation, &job))
		return;
	if (job.effect_sn >= 0 &&
	    !outbox_is_settled(&operation->broker->outbox, (uint64_t)job.effect_sn))
		operation_await_record(operation, (uint64_t)job.effect_sn, begin_run);
	else if (job.status == JOB_SUCCEEDED) /* as in the first system: it is not run again */
		methods_answer_job(operation);
	else if (weigh_expiry(operation, &job) && may_begin(operation, &job)) {
		if (job.status == JOB_RETRY_WAIT)
			run_waits(operation);
		else
			run_assess(operation);
	}
	jobs_free(&job);
}

void
method_job_run(struct operation *operation)
{
	static const char *const names[] = { "job_id", "execute", "worker", NULL };
	const char *worker;
	bool execute;
	struct job job;

	if (!methods_may_change(operation) || !params_known(operation, names, false) ||
	    !params_boolean(operation, "execute", false, &execute) ||
	    !params_text(operation, "worker", LIMIT_BY_BYTES, false, &worker) ||
	    !submission_text_is_clean(operation, "worker", worker) || !params_job(operation, &job))
		return;
	if (execute)
		begin_run(operation);
	else
		assess_begin(operation, &job, dry_assessed);
	jobs_free(&job);
}

void
methods_run_own(struct operation *operation)
{
	struct job job;

	if (!methods_load(operation, &job))
		return;
	if (weigh_expiry(operation, &job))
		run_assess(operation);
	jobs_free(&job);
}

/* --- work --- */

/* The first ready job that nobody else is about to run. */
static bool
take_free(void *context, struct job *job)
{
	struct operation *operation = context;

	if (operation_job_is_held(operation->broker, job->id.at) ||
	    order_blocks(operation->broker, job))
		return true;
	memcpy(operation->job, job->id.at, sizeof(operation->job));
	operation->holds_job = true;
	return false;
}

static void
work_next(struct operation *operation)
{
	struct outbox *outbox = &operation->broker->outbox;
	struct json *idle;
	struct job job;
	bool execute = false;

	operation->holds_job = false;
	if (!operation->broker->paused)
		jobs_each_ready(operation->broker->store, clock_realtime_us(),
		    outbox->settled_sn == UINT64_MAX ? -1 : (int64_t)outbox->settled_sn, take_free,
		    operation);
	if (!operation->holds_job) {
		idle = json_object();
		json_add_text(idle, "status", "idle");
		operation_answer(operation, idle);
		return;
	}
	json_boolean(json_get(operation->request.params, "execute"), &execute);
	if (!methods_load(operation, &job))
		return;
	operation->holds_job = execute;
	if (!execute)
		assess_begin(operation, &job, dry_assessed);
	else if (weigh_expiry(operation, &job))
		run_assess(operation);
	jobs_free(&job);
}

void
method_job_work(struct operation *operation)
{
	static const char *const names[] = { "execute", "worker", NULL };
	const char *worker;
	bool execute;

	if (methods_may_change(operation) && params_known(operation, names, false) &&
	    params_boolean(operation, "execute", false, &execute) &&
	    params_text(operation, "worker", LIMIT_BY_BYTES, false, &worker) &&
	    submission_text_is_clean(operation, "worker", worker))
		work_next(operation);
}
