/* An approved job against what would run now. */
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "scope.h"

#include "assess.h"
#include "broker.h"
#include "changes.h"
#include "job.h"
#include "methods.h"
#include "record.h"
#include "weigh.h"

/* The decision that ends here stays in the history; the job has none any more. */
static void
forget_approval(struct job *job)
{
	bytes_free(&job->approved_sha256);
	job->approved_sha256 = bytes_copy(NULL, 0);
	job->approval_expires_us = 0;
	job->self_approved = 0;
	job->decided_us = 0;
	job->decided_uid = -1;
	free(job->decided_by);
	free(job->decision_reason);
	job->decided_by = job->decision_reason = NULL;
}

/* --- stale --- */

static struct json *
changes_of(const struct job *job, const struct assessment *assessment)
{
	struct json *changes = json_array();

	if (assessment->status == ASSESS_WORKDIR)
		json_add_text(changes, NULL, "working directory: it is another directory");
	else
		changes_add(changes, job->plan.at, job->plan.length, assessment->plan.bytes,
		    assessment->planned ? assessment->plan.length : 0);
	return changes;
}

static enum weighed
make_stale(struct operation *operation, struct job *job)
{
	const struct assessment *assessment = operation->assessment;
	struct json *changes = changes_of(job, assessment), *d = record_stale(job, changes),
	            *data = json_object();
	scoped_free char *texts = json_print(changes, NULL);
	struct bytes approved = bytes_copy(job->approved_sha256.at, job->approved_sha256.length);
	struct decision decision = { .at_us = (int64_t)clock_realtime_us(),
		.decision = "stale",
		.uid = -1,
		.digest = approved,
		.changes = texts };
	uint64_t sn;

	if (!job_take(STEP_STALE, &job->status, &job->approval))
		fatal("store: job %lld cannot be stale", (long long)job->seq);
	job->updated_us = decision.at_us;
	forget_approval(job);
	bytes_free(&job->plan);
	bytes_free(&job->spec_sha256);
	job->plan =
	    bytes_copy(assessment->plan.bytes, assessment->planned ? assessment->plan.length : 0);
	job->spec_sha256 = bytes_copy(assessment->digest, assessment->planned ? DIGEST_BYTES : 0);
	sn = methods_step(operation->broker, job, "job.stale", d, false, &decision);
	bytes_free(&approved);
	json_add(data, "changes", changes);
	operation_refuse_after(operation, sn, data, "approval_stale",
	    "what was approved is not what would run now: look at it and approve it again");
	return WEIGH_REFUSED;
}

/* --- not allowed --- */

/* No policy, or a machine without what the cage wants, is nobody's decision: the approval stays. */
static enum weighed
keep_as_it_is(struct operation *operation, const struct job *job)
{
	struct record_who who = methods_who(operation, NULL);
	uint64_t sn = methods_note(operation->broker, job, "job.policy",
	    record_verdict(job, &who, false, operation->assessment->reason));

	operation_refuse_after(operation, sn, NULL,
	    operation->assessment->decision.verdict == VERDICT_CAGE ? "cage_unavailable" :
	    "policy_denied", "%s", operation->assessment->reason);
	return WEIGH_REFUSED;
}

static enum weighed
bury(struct operation *operation, struct job *job)
{
	struct record_who who = methods_who(operation, NULL);
	struct json *result = json_object();

	if (!job_take(STEP_BURY, &job->status, &job->approval))
		fatal("store: job %lld cannot be buried", (long long)job->seq);
	job->updated_us = (int64_t)clock_realtime_us();
	json_add_text(result, "error", operation->assessment->reason);
	free(job->result);
	job->result = json_print(result, NULL);
	json_free(result);
	free(job->error_class);
	job->error_class = bytes_text("policy_denied");
	methods_step(operation->broker, job, "job.dead",
	    record_verdict(job, &who, false, operation->assessment->reason), false, NULL);
	return WEIGH_BURIED;
}

/* The program or the directory is not what it was, or is gone. */
static bool
is_changed_world(const struct assessment *assessment)
{
	return assessment->status == ASSESS_WORKDIR ||
	    assessment->decision.verdict == VERDICT_NO_PROGRAM;
}

enum weighed
weigh_run(struct operation *operation, struct job *job)
{
	const struct assessment *assessment = operation->assessment;

	/* A step that somebody took while the executor looked. */
	if (!job_may(STEP_DISPATCH, job->status, job->approval)) {
		operation_refuse(operation, "invalid_job_state", "the job is now %s and %s",
		    job_status_name(job->status), job_approval_name(job->approval));
		return WEIGH_REFUSED;
	}
	if (!weigh_expiry(operation, job))
		return WEIGH_REFUSED;
	if (assessment->decision.verdict == VERDICT_NO_POLICY ||
	    assessment->decision.verdict == VERDICT_CAGE)
		return keep_as_it_is(operation, job);
	if (is_changed_world(assessment))
		return make_stale(operation, job);
	if (!assess_allows(assessment))
		return bury(operation, job);
	if (job->approved_sha256.length != DIGEST_BYTES ||
	    memcmp(job->approved_sha256.at, assessment->digest, DIGEST_BYTES) != 0)
		return make_stale(operation, job);
	return WEIGH_GOOD;
}

/* --- expiry --- */

/*
 * A clock that was set back lengthens no approval: time goes on from the newest record of before.
 */
uint64_t
weigh_now_us(const struct broker *broker)
{
	uint64_t least_us = broker->newest_us + (clock_monotonic_us() - broker->newest_at_us);
	uint64_t now_us = clock_realtime_us();

	return now_us > least_us ? now_us : least_us;
}

static bool
is_over(const struct broker *broker, const struct job *job)
{
	return job_may(STEP_EXPIRE, job->status, job->approval) && job->approval_expires_us > 0 &&
	    job->approval_expires_us <= (int64_t)weigh_now_us(broker);
}

static void
expire(struct broker *broker, struct job *job)
{
	struct json *d = record_expired(job);
	struct bytes approved = bytes_copy(job->approved_sha256.at, job->approved_sha256.length);
	struct decision decision = { .at_us = (int64_t)clock_realtime_us(),
		.decision = "expired",
		.uid = -1,
		.digest = approved };

	if (!job_take(STEP_EXPIRE, &job->status, &job->approval))
		fatal("store: job %lld cannot expire", (long long)job->seq);
	job->updated_us = decision.at_us;
	forget_approval(job);
	methods_step(broker, job, "job.expired", d, false, &decision);
	bytes_free(&approved);
}

bool
weigh_expiry(struct operation *operation, struct job *job)
{
	if (!is_over(operation->broker, job))
		return true;
	expire(operation->broker, job);
	operation_refuse_after(operation, (uint64_t)job->effect_sn, NULL, "approval_expired",
	    "the approval has expired: approve it again");
	return false;
}

uint64_t
weigh_expire(struct broker *broker)
{
	struct job job;
	uint64_t next = 0;

	while (jobs_next_expiry(broker->store, &job)) {
		bool over = is_over(broker, &job);

		next = (uint64_t)job.approval_expires_us;
		if (over)
			expire(broker, &job);
		jobs_free(&job);
		if (!over)
			return next;
	}
	return 0;
}
