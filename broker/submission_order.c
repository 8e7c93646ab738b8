/* What a proposal says of its place in the queue: retry, group, mutex, after. */
#include <string.h>

#include "limits.h"
#include "text.h"

#include "broker.h"
#include "params.h"
#include "submission.h"

static bool
read_retry(struct operation *operation, struct job *job)
{
	const char *retry;

	if (!params_text(operation, "retry", 5, false, &retry))
		return false;
	job->retry_safe = retry && strcmp(retry, "safe") == 0;
	return !retry || job->retry_safe || strcmp(retry, "never") == 0 ||
	    submission_reject(operation, "invalid_input", "retry", NULL, "retry must be safe or never");
}

/* A name that is not in the policy would be a limit that nobody set. */
static bool
read_group(struct operation *operation, struct job *job)
{
	const struct policy *policy = operation->broker->rules.policy;
	const char *group, *mutex;

	if (!params_text(operation, "group", LIMIT_LABEL_BYTES, false, &group) ||
	    !params_text(operation, "mutex", LIMIT_LABEL_BYTES, false, &mutex))
		return false;
	if ((group && *group == '\0') || (mutex && *mutex == '\0'))
		return submission_reject(operation, "invalid_input", "group", NULL,
		    "group and mutex must not be empty");
	if (group && (!policy || policy_group(policy, group) == 0))
		return submission_reject(operation, "invalid_input", "group", NULL,
		    "the policy has no such group in queue.groups");
	job->group_name = bytes_text(group);
	job->mutex = bytes_text(mutex);
	return true;
}

/* {"job_id": ..., "want": "ok" | "any" | "notok"}; want may be left out: ok. */
static bool
read_need(struct operation *operation, struct submission *submission, const struct json *value)
{
	static const char *const names[] = { "job_id", "want", NULL };
	const char *id = json_text(json_get(value, "job_id")), *want = json_text(json_get(value, "want"));
	enum order_want wanted = want ? order_want_of(want) : ORDER_WANT_OK;
	struct job job = { 0 };
	uint8_t uuid[16];
	bool found;

	if (!json_is_object(value) || json_unknown_key(value, names) || !id || wanted == 0 ||
	    (!want && json_get(value, "want")))
		return submission_reject(operation, "invalid_input", "after", NULL,
		    "after: each needs the ID of a job and how it must end: ok, any or notok");
	found = text_read_uuid(id, uuid) && jobs_by_id(operation->broker->store, uuid, &job) &&
	    client_sees(operation->client, job.submitter_uid);
	submission->needs[submission->need_count].job = job.seq;
	submission->needs[submission->need_count].want = wanted;
	for (size_t i = 0; found && i < submission->need_count; i++)
		found = submission->needs[i].job != job.seq;
	submission->need_count++;
	jobs_free(&job);
	return found || submission_reject(operation, "job_not_found", "after", NULL,
	    "after names a job that is not there, or one twice");
}

static bool
read_needs(struct operation *operation, struct submission *submission)
{
	const struct json *after = json_get(operation->request.params, "after");

	if (after && (!json_is_array(after) || json_count(after) > ORDER_NEEDS_MOST))
		return submission_reject(operation, "limit_exceeded", "after", NULL,
		    "after must be an array of at most %d jobs", ORDER_NEEDS_MOST);
	for (size_t i = 0; i < json_count(after); i++)
		if (!read_need(operation, submission, json_at(after, i)))
			return false;
	return true;
}

bool
submission_read_order(struct operation *operation, struct submission *submission)
{
	return read_retry(operation, &submission->job) && read_group(operation, &submission->job) &&
	    read_needs(operation, submission);
}
