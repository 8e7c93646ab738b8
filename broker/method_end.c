/* job.cancel and job.retry: a job is ended, or everything is decided anew. */
#include <stdlib.h>

#include "log.h"

#include "broker.h"
#include "job.h"
#include "methods.h"
#include "needs.h"
#include "params.h"

static const char *const only_job[] = { "job_id", NULL };

/* Running jobs end when the whole process tree is dead, and not before. */
static void
answer_when_ended(struct operation *operation)
{
	struct job job;

	if (!methods_load(operation, &job))
		return;
	if (job.status == JOB_RUNNING)
		operation_await(operation, WAIT_JOB, answer_when_ended);
	else
		methods_answer_job_after(operation, (uint64_t)job.effect_sn);
	jobs_free(&job);
}

static void
cancel_waiting(struct operation *operation, struct job *job)
{
	struct record_who who = methods_who(operation, NULL);

	if (!job_take(STEP_CANCEL, &job->status, &job->approval))
		fatal("store: job %lld cannot be cancelled", (long long)job->seq);
	job->updated_us = (int64_t)clock_realtime_us();
	methods_answer_job_after(operation, methods_step(operation->broker, job, "job.cancelled",
	    record_step(job, &who), false, NULL));
}

/* The order leaves for the executor when it is on record; a second one changes nothing. */
static void
cancel_running(struct operation *operation, struct job *job)
{
	struct record_who who = methods_who(operation, NULL);

	if (job->cancel_us == 0) {
		job->cancel_us = job->updated_us = (int64_t)clock_realtime_us();
		methods_step(operation->broker, job, "job.cancel_requested", record_step(job, &who),
		    false, NULL);
	}
	operation_await(operation, WAIT_JOB, answer_when_ended);
}

void
method_job_cancel(struct operation *operation)
{
	struct job job;

	if (!methods_may_change(operation) || !params_known(operation, only_job, false) ||
	    !params_job(operation, &job))
		return;
	if (job.status == JOB_RUNNING)
		cancel_running(operation, &job);
	else if (job_may(STEP_CANCEL, job.status, job.approval))
		cancel_waiting(operation, &job);
	else
		operation_refuse(operation, "invalid_job_state",
		    "a job that is %s cannot be cancelled", job_status_name(job.status));
	jobs_free(&job);
}

/* As if it had just been proposed; what was decided and what ran stays in its history. */
static void
begin_anew(struct job *job)
{
	if (job->attempts > 0)
		job->expires_us = 0; /* it had begun in time */
	job->attempts = 0;
	job->held = job->needs = 0;
	job->cancel_us = 0;
	free(job->result);
	free(job->error_class);
	free(job->decided_by);
	free(job->decision_reason);
	job->result = job->error_class = job->decided_by = job->decision_reason = NULL;
	job->decided_us = 0;
	job->decided_uid = -1;
	job->self_approved = 0;
	job->approval_expires_us = 0;
	bytes_free(&job->approved_sha256);
	job->approved_sha256 = bytes_copy(NULL, 0);
	job->updated_us = (int64_t)clock_realtime_us();
	job->available_us = job->created_us; /* no delay */
}

/* It has never begun, and would be cancelled at once. */
static bool
is_too_late(const struct job *job)
{
	return job->attempts == 0 && job->expires_us > 0 &&
	    job->expires_us <= (int64_t)clock_realtime_us();
}

void
method_job_retry(struct operation *operation)
{
	struct record_who who = methods_who(operation, NULL);
	struct job job;

	if (!methods_may_change(operation) || !params_known(operation, only_job, false) ||
	    !params_job(operation, &job))
		return;
	if (is_too_late(&job)) {
		operation_refuse(operation, "invalid_job_state",
		    "the time until which it was to begin is over (see \"expires_at\"): propose it anew");
	} else if (job_take(STEP_RETRY, &job.status, &job.approval)) {
		begin_anew(&job);
		needs_forget(operation->broker->store, job.seq); /* the step below writes the job itself */
		methods_answer_job_after(operation,
		    methods_step(operation->broker, &job, "job.retry", record_step(&job, &who),
		        false, NULL));
	} else
		operation_refuse(operation, "invalid_job_state",
		    "a job that is %s cannot be retried", job_status_name(job.status));
	jobs_free(&job);
}
