/* A proposal before it is stored. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "digest.h"
#include "limits.h"
#include "log.h"
#include "scope.h"
#include "text.h"

#include "broker.h"
#include "elements.h"
#include "hidden.h"
#include "job.h"
#include "methods.h"
#include "moment.h"
#include "params.h"
#include "record.h"
#include "rules.h"
#include "submission.h"
#include "workdir.h"

bool
submission_reject(struct operation *operation, const char *code, const char *what,
    const char *rule, const char *format, ...)
{
	struct broker *broker = operation->broker;
	struct record_who who = methods_who(operation, NULL);
	char text[300] = "";
	va_list arguments;
	uint64_t sn;

	va_start(arguments, format);
	if (vsnprintf(text, sizeof(text), format, arguments) < 0)
		text[0] = '\0';
	va_end(arguments);
	store_begin(broker->store);
	sn = outbox_add(&broker->outbox, "job.refused", record_refused(&who, code, what, rule),
	    false, 0);
	outbox_commit(&broker->outbox);
	operation_refuse_after(operation, sn, NULL, code, "%s", text);
	return false;
}

/* Who may have something run there: its owner, root, or the group of a shared root. */
static bool
may_work_in(struct operation *operation, const struct workdir *workdir)
{
	const struct boot_root *root = methods_root_of(operation->broker, workdir->path);
	const struct client *client = operation->client;
	bool shared = root && root->flags & ROOT_SHARED && client_has_group(client, root->gid),
	     ours;
	uint64_t flags = root ? root->flags : 0;

	if (client->uid != 0 && client->uid != workdir->uid && !shared)
		return submission_reject(operation, "not_permitted", "cwd", NULL,
		    "the working directory belongs to another user, and its root is not shared "
		    "with your group");
	/* Outside every root it is stored, with that verdict. */
	ours = root || rules_lost_root(operation->broker, workdir->path, &flags);
	if (workdir->uid == 0 && ours && !(flags & ROOT_ROOT_OWNED))
		return submission_reject(operation, "policy_denied", "cwd", NULL,
		    "the working directory belongs to root: give it to another user, or say "
		    "\"root_owned\": true at its root in the policy (version 2)");
	return true;
}

static bool
read_workdir(struct operation *operation, struct job *job)
{
	scoped_free struct workdir *workdir = bytes_make(sizeof(*workdir));
	const char *why;

	if (operation->descriptor < 0)
		return submission_reject(operation, "invalid_input", "cwd", NULL,
		    "the working directory must come with the request, as a descriptor");
	if (!workdir_read(operation->descriptor, workdir, &why))
		return submission_reject(operation, "invalid_input", "cwd", NULL, "%s", why);
	if (!may_work_in(operation, workdir))
		return false;
	job->cwd = bytes_text(workdir->path);
	job->cwd_dev = (int64_t)workdir->dev;
	job->cwd_ino = (int64_t)workdir->ino;
	job->cwd_birth_ns = (int64_t)workdir->birth_ns;
	bytes_free(&job->cwd_handle);
	job->cwd_handle = bytes_copy(workdir->handle, workdir->handle_length);
	return true;
}

/* *moment stays as it is when the parameter is not there. */
static bool
read_moment(struct operation *operation, const char *name, int64_t *moment)
{
	const struct json *value = json_get(operation->request.params, name);
	int64_t seconds;

	if (!value || (json_text(value) && moment_read(json_text(value), moment)))
		return true;
	if (json_integer(value, &seconds) && seconds >= 0 &&
	    seconds < 253402300800) { /* year 10000 */
		*moment = seconds * 1000000;
		return true;
	}
	return submission_reject(operation, "invalid_input", name, NULL,
	    "%s must be a time as in RFC 3339, or seconds since 1970", name);
}

static bool
read_times(struct operation *operation, struct job *job)
{
	job->available_us = job->created_us;
	if (!read_moment(operation, "not_before", &job->available_us) ||
	    !read_moment(operation, "expires", &job->expires_us))
		return false;
	return job->expires_us == 0 || job->expires_us > job->available_us ||
	    submission_reject(operation, "invalid_input", "expires", NULL,
	        "expires must be later than now, and than not_before");
}

static bool
read_texts(struct operation *operation, struct job *job)
{
	const char *key, *label, *meta, *source;

	if (!params_text(operation, "idempotency_key", LIMIT_KEY_BYTES, false, &key) ||
	    !params_text(operation, "label", LIMIT_LABEL_BYTES, false, &label) ||
	    !params_text(operation, "meta", LIMIT_META_BYTES, false, &meta) ||
	    !params_text(operation, "source", 3, false, &source))
		return false;
	if (key && *key == '\0')
		return submission_reject(operation, "invalid_input", "idempotency_key", NULL,
		    "idempotency_key is empty");
	if (source && strcmp(source, "cli") != 0 && strcmp(source, "mcp") != 0)
		return submission_reject(operation, "invalid_input", "source", NULL,
		    "source must be cli or mcp");
	job->key = bytes_text(key);
	job->key_given = key != NULL;
	job->label = bytes_text(label);
	job->meta = bytes_text(meta);
	job->source = bytes_text(source ? source : "cli");
	return true;
}

#define USUAL_TIMEOUT 60 /* seconds */

/* Of a job that says nothing: one that the policy then refuses would help nobody. */
static int64_t
usual_timeout(const struct policy *policy)
{
	uint64_t most = policy ? policy_max_timeout_seconds(policy) : USUAL_TIMEOUT;

	return (int64_t)(most < USUAL_TIMEOUT ? most : USUAL_TIMEOUT);
}

static bool
read_numbers(struct operation *operation, struct submission *submission)
{
	struct job *job = &submission->job;

	return params_integer(operation, "timeout", 1, LIMIT_TIMEOUT_SECONDS,
	           usual_timeout(operation->broker->rules.policy), &job->timeout_seconds) &&
	    params_integer(operation, "max_attempts", 1, LIMIT_ATTEMPTS, 1, &job->max_attempts) &&
	    params_integer(operation, "priority", -1000, 1000, 0, &job->priority) &&
	    params_boolean(operation, "new", false, &submission->new);
}

/* --- the whole --- */

/*
 * Without a key of its own a proposal is known by its content; one with a secret is known by
 * nothing: the digest would be something to try guesses on.
 */
static void
make_key(struct job *job)
{
	struct digest_state state;
	uint8_t sha256[DIGEST_BYTES];
	char numbers[64], hex[2 * DIGEST_BYTES + 1];

	if (job->key_given)
		return;
	if (hidden_count(job) > 0) {
		random_bytes(sha256, sizeof(sha256));
		text_hex(hex, sha256, DIGEST_BYTES);
		job->key = bytes_text(hex);
		return;
	}
	text_format(numbers, sizeof(numbers), "%lld %lld%s", (long long)job->timeout_seconds,
	    (long long)job->max_attempts, job->retry_safe ? " safe" : "");
	digest_begin(&state);
	digest_add(&state, job->argv.at, job->argv.length);
	digest_add(&state, "", 1);
	digest_add(&state, job->environment.at, job->environment.length);
	digest_add(&state, "", 1);
	digest_add(&state, job->cwd, strlen(job->cwd) + 1);
	digest_add(&state, numbers, strlen(numbers));
	digest_end(&state, sha256);
	text_hex(hex, sha256, DIGEST_BYTES);
	job->key = bytes_text(hex);
}

/* What every new job has. */
static void
fill_new(struct job *job, const struct client *client)
{
	uint8_t uuid[16];

	jobs_new_id(uuid);
	*job = (struct job){ .id = bytes_copy(uuid, sizeof(uuid)),
		.argv = bytes_copy(NULL, 0),
		.environment = bytes_copy(NULL, 0),
		.cwd_handle = bytes_copy(NULL, 0),
		.plan = bytes_copy(NULL, 0),
		.spec_sha256 = bytes_copy(NULL, 0),
		.approved_sha256 = bytes_copy(NULL, 0),
		.secrets = bytes_copy(NULL, 0),
		.submitter_uid = client->uid,
		.submitter_gid = client->gid,
		.submitter_pid = client->pid,
		.status = JOB_QUEUED,
		.approval = APPROVAL_PENDING,
		.slot = -1,
		.decided_uid = -1,
		.effect_sn = -1 };
	job->created_us = job->updated_us = (int64_t)clock_realtime_us();
}

struct submission *
submission_read(struct operation *operation)
{
	static const char *const names[] = { "command", "timeout", "max_attempts",
		"idempotency_key", "new", "label", "meta", "priority", "not_before", "source",
		"environment", "expires", "retry", "group", "mutex", "after", "allow_secrets", "by", "reason",
		NULL };
	struct submission *submission;

	if (!params_known(operation, names, true))
		return NULL;
	submission = bytes_make(sizeof(*submission));
	fill_new(&submission->job, operation->client);
	if (read_numbers(operation, submission) && read_texts(operation, &submission->job) &&
	    read_times(operation, &submission->job) &&
	    elements_command(operation, &submission->job) &&
	    submission_read_secrets(operation, submission) &&
	    elements_environment(operation, &submission->job) &&
	    submission_read_order(operation, submission) &&
	    read_workdir(operation, &submission->job) && submission_is_clean(operation, submission)) {
		make_key(&submission->job);
		return submission;
	}
	submission_free(submission);
	return NULL;
}

void
submission_free(struct submission *submission)
{
	if (!submission)
		return;
	jobs_free(&submission->job);
	free(submission);
}

static bool
same_bytes(const struct bytes *a, const struct bytes *b)
{
	return a->length == b->length && memcmp(a->at, b->at, a->length) == 0;
}

void
submission_differences(const struct job *old, const struct job *new, struct json *names)
{
	if (!same_bytes(&old->argv, &new->argv))
		json_add_text(names, NULL, "command");
	if (strcmp(old->cwd, new->cwd) != 0)
		json_add_text(names, NULL, "cwd");
	if (old->timeout_seconds != new->timeout_seconds)
		json_add_text(names, NULL, "timeout");
	if (old->max_attempts != new->max_attempts)
		json_add_text(names, NULL, "max_attempts");
	if (old->retry_safe != new->retry_safe)
		json_add_text(names, NULL, "retry");
	if (!same_bytes(&old->environment, &new->environment))
		json_add_text(names, NULL, "environment");
}
