/* job.approve and job.deny: a person decides, and what was decided is on record. */
#include <stdlib.h>
#include <string.h>

#include "limits.h"
#include "log.h"
#include "text.h"

#include "assess.h"
#include "broker.h"
#include "changes.h"
#include "job.h"
#include "methods.h"
#include "params.h"
#include "submission.h"

struct verdict_of_person {
	const char *by, *reason; /* reason may be NULL */
};

static bool
read_person(struct operation *operation, bool needs_reason, struct verdict_of_person *person)
{
	return params_text(operation, "by", LIMIT_BY_BYTES, true, &person->by) &&
	    params_text(operation, "reason", LIMIT_REASON_BYTES, needs_reason, &person->reason) &&
	    submission_text_is_clean(operation, "by", person->by) &&
	    submission_text_is_clean(operation, "reason", person->reason);
}

/* A decision that is not taken is on record too; the answer waits for it.  Takes data (or NULL). */
static void
refuse_decision(struct operation *operation, const struct job *job, const char *decision,
    struct json *data, const char *code, const char *reason)
{
	struct record_who who =
	    methods_who(operation, json_text(json_get(operation->request.params, "by")));
	uint64_t sn = methods_note(operation->broker, job, "job.decision_refused",
	    record_decision_refused(job, &who, decision, code, reason));

	operation_refuse_after(operation, sn, data, code, "%s", reason);
}

/* May this step be taken, and by this peer? */
static bool
may_decide(struct operation *operation, const struct job *job, enum job_step step,
    const char *decision)
{
	char text[200];

	if (!job_may(step, job->status, job->approval)) {
		text_format(text, sizeof(text), "a job that is %s and %s cannot be %s",
		    job_status_name(job->status), job_approval_name(job->approval), decision);
		refuse_decision(operation, job, decision, NULL, "invalid_job_state", text);
		return false;
	}
	if (step == STEP_APPROVE && operation->broker->boot.mode == MODE_SYSTEM &&
	    (int64_t)operation->client->uid == job->submitter_uid) {
		refuse_decision(operation, job, decision, NULL, "not_permitted",
		    "who proposed a job cannot approve it");
		return false;
	}
	return true;
}

/* Fields of the job and a line of history, the same for both decisions. */
static uint64_t
store_decision(struct operation *operation, struct job *job, enum job_step step, const char *type,
    const char *name)
{
	const char *cause = step == STEP_APPROVE ? "approved" : NULL;
	const struct json *params = operation->request.params;
	const char *by = json_text(json_get(params, "by")),
	           *reason = json_text(json_get(params, "reason"));
	struct record_who who = methods_who(operation, by);
	struct decision decision = { .decision = name, .by = by, .uid = who.uid, .reason = reason };

	if (!job_take(step, &job->status, &job->approval))
		fatal("store: job %lld cannot be decided", (long long)job->seq);
	job->updated_us = job->decided_us = decision.at_us = (int64_t)clock_realtime_us();
	free(job->decided_by);
	job->decided_by = bytes_text(by);
	free(job->decision_reason);
	job->decision_reason = bytes_text(reason);
	job->decided_uid = who.uid;
	decision.digest = job->approved_sha256;
	/* Sealed at once: a decision is what a job's run stands on. */
	return methods_step_into_queue(operation->broker, job, type, record_decision(job, &who, reason),
	    true, &decision, cause);
}

/* --- approve --- */

/* What the operator saw, if it said so, must be what would run; else what is different. */
static bool
is_what_was_shown(struct operation *operation, const struct job *job)
{
	const struct assessment *assessment = operation->assessment;
	const char *shown = json_text(json_get(operation->request.params, "digest"));
	char now[72] = "sha256:", stored[72] = "sha256:";
	struct json *data = NULL;

	text_hex(now + 7, assessment->digest, DIGEST_BYTES);
	if (!shown || strcmp(shown, now) == 0)
		return true;
	if (job->spec_sha256.length == DIGEST_BYTES)
		text_hex(stored + 7, job->spec_sha256.at, DIGEST_BYTES);
	if (strcmp(shown, stored) == 0) {
		data = json_object();
		changes_add(json_add_array(data, "changes"), job->plan.at, job->plan.length,
		    assessment->plan.bytes, assessment->plan.length);
	}
	refuse_decision(operation, job, "approved", data, "approval_stale",
	    "this is not (or no longer) the digest of what would run: look at it again");
	return false;
}

static void
approve_assessed(struct operation *operation)
{
	struct broker *broker = operation->broker;
	struct job job;

	if (!methods_load(operation, &job))
		return;
	if (may_decide(operation, &job, STEP_APPROVE, "approved")) {
		if (!assess_allows(operation->assessment))
			refuse_decision(operation, &job, "approved", NULL, "policy_denied",
			    operation->assessment->reason);
		else if (is_what_was_shown(operation, &job)) {
			methods_bind_plan(broker, &job, operation->assessment);
			job.self_approved = (int64_t)operation->client->uid == job.submitter_uid;
			methods_answer_job_after(operation,
			    store_decision(operation, &job, STEP_APPROVE, "job.approved",
			        "approved"));
		}
	}
	jobs_free(&job);
}

void
method_job_approve(struct operation *operation)
{
	static const char *const names[] = { "job_id", "by", "reason", "digest", NULL };
	struct verdict_of_person person;
	const char *digest;
	struct job job;

	if (!methods_may_change(operation) || !params_known(operation, names, false) ||
	    !read_person(operation, false, &person) ||
	    !params_text(operation, "digest", 71, false, &digest) || !params_job(operation, &job))
		return;
	if (may_decide(operation, &job, STEP_APPROVE, "approved"))
		assess_begin(operation, &job, approve_assessed);
	jobs_free(&job);
}

/* --- deny --- */

void
method_job_deny(struct operation *operation)
{
	static const char *const names[] = { "job_id", "by", "reason", NULL };
	struct verdict_of_person person;
	struct job job;

	if (!methods_may_change(operation) || !params_known(operation, names, false) ||
	    !read_person(operation, true, &person) || !params_job(operation, &job))
		return;
	if (may_decide(operation, &job, STEP_DENY, "denied")) {
		bytes_free(&job.approved_sha256);
		job.approved_sha256 = bytes_copy(NULL, 0);
		job.approval_expires_us = 0;
		methods_answer_job_after(operation,
		    store_decision(operation, &job, STEP_DENY, "job.denied", "denied"));
	}
	jobs_free(&job);
}
