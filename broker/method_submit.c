/* job.submit: a proposal is read, assessed and stored as pending. */
#include <stdlib.h>
#include <string.h>

#include "limits.h"
#include "text.h"

#include "assess.h"
#include "broker.h"
#include "hidden.h"
#include "methods.h"
#include "present.h"
#include "submission.h"

static void
answer_submitted(struct operation *operation, bool created)
{
	struct job job;
	struct json *answer;

	if (!methods_load(operation, &job))
		return;
	answer = present_job(operation->broker, &job);
	json_add_boolean(answer, "created", created);
	json_add(answer, "assessment",
	    assess_json(operation->broker, &job, operation->assessment, false));
	jobs_free(&job);
	operation_answer(operation, answer);
}

static void
answer_created(struct operation *operation)
{
	answer_submitted(operation, true);
}

static void
answer_known(struct operation *operation)
{
	answer_submitted(operation, false);
}

/* The same key again: the job that is there, or a conflict. */
static void
answer_existing(struct operation *operation, const struct job *old)
{
	const struct job *new = &operation->submission->job;
	struct json *data = json_object(), *fields = json_add_array(data, "fields");
	char uuid[TEXT_UUID];

	submission_differences(old, new, fields);
	if (json_count(fields) > 0) {
		text_uuid(uuid, old->id.at);
		json_add_text(data, "job_id", uuid);
		operation_refuse_with(operation, data, "key_conflict",
		    "this key already names a job with other content");
		return;
	}
	json_free(data);
	memcpy(operation->job, old->id.at, sizeof(operation->job));
	if (old->effect_sn >= 0)
		operation_await_record(operation, (uint64_t)old->effect_sn, answer_known);
	else
		answer_known(operation);
}

/* A key that the client chose is for ever; one made from the content covers unfinished work only. */
static bool
find_existing(struct operation *operation, struct job *old)
{
	const struct job *job = &operation->submission->job;

	memset(old, 0, sizeof(*old));
	return !operation->submission->new &&jobs_by_key(operation->broker->store,
	    job->submitter_uid, job->key, !job->key_given, old);
}

/* False: what it would wait for can never be; nothing is stored. */
static bool
add_needs(struct operation *operation, struct job *job)
{
	const struct submission *submission = operation->submission;
	struct broker *broker = operation->broker;

	for (size_t i = 0; i < submission->need_count; i++) {
		struct job on;
		bool can_be = jobs_by_seq(broker->store, submission->needs[i].job, &on) &&
		    order_need(broker, job, &on, submission->needs[i].want);

		jobs_free(&on);
		if (can_be)
			continue;
		store_rollback(broker->store);
		operation_refuse(operation, "invalid_job_state",
		    "a job in after has ended otherwise: this one could never run");
		return false;
	}
	return true;
}

static const char *
rule_of(const void *context, size_t element)
{
	const struct submission *submission = context;

	for (size_t i = 0; i < submission->pass_count; i++)
		if (submission->passes[i].element == element)
			return submission->passes[i].rule;
	return "same_value";
}

/* Behind the proposal, in its transaction: the answer waits for both. */
static uint64_t
add_override(struct operation *operation, const struct job *job)
{
	const struct submission *submission = operation->submission;
	struct record_who who = methods_who(operation, submission->by);

	return outbox_add(&operation->broker->outbox, "secret.override",
	    record_override(job, &who, submission->reason, rule_of, submission), false, job->seq);
}

static void
store_new(struct operation *operation)
{
	struct broker *broker = operation->broker;
	const struct assessment *assessment = operation->assessment;
	struct job *job = &operation->submission->job;
	uint64_t sn;

	if (assessment->planned) {
		bytes_free(&job->plan);
		bytes_free(&job->spec_sha256);
		job->plan = bytes_copy(assessment->plan.bytes, assessment->plan.length);
		job->spec_sha256 = bytes_copy(assessment->digest, DIGEST_BYTES);
	}
	store_begin_alone(broker->store);
	jobs_add(broker->store, job);
	if (!add_needs(operation, job))
		return;
	sn = outbox_add(&broker->outbox, "job.proposed",
	    record_proposed(job, assess_allows(assessment), assessment->reason), false, job->seq);
	if (hidden_count(job) > 0)
		sn = add_override(operation, job);
	job->effect_sn = (int64_t)sn;
	jobs_change(broker->store, job);
	outbox_commit(&broker->outbox);
	operation_await_record(operation, sn, answer_created);
}

/* Nothing waits between the search for the key and the insertion: one of many equals wins. */
static void
submit_assessed(struct operation *operation)
{
	struct broker *broker = operation->broker;
	struct job old;

	if (!methods_may_propose(operation))
		return;
	if (find_existing(operation, &old))
		answer_existing(operation, &old);
	else if (jobs_unfinished_of(broker->store, operation->submission->job.submitter_uid) >=
	    LIMIT_PENDING)
		operation_refuse(operation, "limit_exceeded",
		    "%d of your jobs are unfinished: no more are taken", LIMIT_PENDING);
	else
		store_new(operation);
	jobs_free(&old);
}

/* As if it were proposed; nothing is stored, and there is no job to name. */
static void
answer_explained(struct operation *operation)
{
	struct json *answer = assess_json(operation->broker, &operation->submission->job,
	    operation->assessment, true);

	json_remove(answer, "job_id");
	json_remove(answer, "approval_status");
	json_remove(answer, "execution_ready");
	operation_answer(operation, answer);
}

void
method_policy_explain(struct operation *operation)
{
	struct submission *submission = submission_read(operation);

	if (!submission)
		return;
	operation->submission = submission;
	assess_begin(operation, &submission->job, answer_explained);
}

void
method_job_submit(struct operation *operation)
{
	struct submission *submission;

	if (!methods_may_propose(operation))
		return;
	submission = submission_read(operation);
	if (!submission)
		return;
	operation->submission = submission;
	assess_begin(operation, &submission->job, submit_assessed);
}
