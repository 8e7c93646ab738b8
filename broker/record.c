/* The d of every record of the broker. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "digest.h"
#include "scope.h"
#include "text.h"

#include "job.h"
#include "record.h"
#include "record_parts.h"

#define REASON_MOST 4096   /* a text on record; argv and reasons are bounded below it anyway */

void
record_add_digest(struct json *d, const char *key, const struct bytes *digest)
{
	char hex[2 * DIGEST_BYTES + 1];

	if (digest->length != DIGEST_BYTES)
		return;
	text_hex(hex, digest->at, DIGEST_BYTES);
	json_add_text(d, key, hex);
}

/* {"job":"<uuid>"} */
struct json *
record_begin(const struct job *job)
{
	struct json *d = json_object();
	char uuid[TEXT_UUID];

	text_uuid(uuid, job->id.at);
	json_add_text(d, "job", uuid);
	return d;
}

void
record_add_who(struct json *d, const struct record_who *who)
{
	struct json *object;

	if (!who)
		return;
	object = json_add_object(d, "who");
	json_add_integer(object, "uid", who->uid);
	json_add_integer(object, "gid", who->gid);
	json_add_integer(object, "pid", who->pid);
	if (who->by)
		json_add_text(object, "by", who->by);
}

/* A text of ours, cut where it would be too long for a record. */
void
record_add_text(struct json *d, const char *key, const char *text)
{
	char cut[REASON_MOST];
	size_t length = 0, step;

	while (text[length] &&
	    (step = text_utf8_length(text + length, strlen(text + length))) > 0 &&
	    length + step < sizeof(cut))
		length += step;
	memcpy(cut, text, length);
	cut[length] = '\0';
	json_add_text(d, key, cut);
}

struct json *
record_decision(const struct job *job, const struct record_who *who, const char *reason)
{
	struct json *d = record_begin(job);

	record_add_who(d, who);
	if (reason)
		record_add_text(d, "reason", reason);
	record_add_digest(d, "spec_sha256", &job->approved_sha256);
	if (job->approval == APPROVAL_APPROVED) {
		json_add_integer(d, "expires_us", job->approval_expires_us);
		json_add_boolean(d, "self_approved", job->self_approved != 0);
	}
	return d;
}

struct json *
record_decision_refused(const struct job *job, const struct record_who *who, const char *decision,
    const char *code, const char *reason)
{
	struct json *d = record_begin(job);

	record_add_who(d, who);
	json_add_text(d, "decision", decision);
	json_add_text(d, "code", code);
	record_add_text(d, "reason", reason);
	return d;
}

struct json *
record_verdict(const struct job *job, const struct record_who *who, bool allowed,
    const char *reason)
{
	struct json *d = record_begin(job);

	record_add_who(d, who);
	json_add_boolean(d, "allowed", allowed);
	record_add_text(d, "reason", reason);
	return d;
}

struct json *
record_queued(const struct job *job, const char *cause, int64_t ahead, struct json *waiting,
    struct json *after)
{
	struct json *d = record_begin(job);

	json_add_text(d, "cause", cause);
	json_add_integer(d, "attempt", job->runs + 1);
	json_add_integer(d, "attempts_left", job->max_attempts - job->attempts);
	json_add_integer(d, "priority", job->priority);
	json_add_integer(d, "ahead", ahead);
	json_add_integer(d, "not_before_us", job->available_us);
	if (job->expires_us)
		json_add_integer(d, "expires_us", job->expires_us);
	if (job->approval_expires_us)
		json_add_integer(d, "approval_expires_us", job->approval_expires_us);
	record_add_text(d, "key", job->key);
	if (job->group_name)
		record_add_text(d, "group", job->group_name);
	if (job->mutex)
		record_add_text(d, "mutex", job->mutex);
	json_add(d, "waiting_for", waiting);
	if (after)
		json_add(d, "after", after);
	record_add_digest(d, "spec_sha256", &job->approved_sha256);
	return d;
}

struct json *
record_expired(const struct job *job)
{
	struct json *d = record_begin(job);

	json_add_integer(d, "expired_us", job->approval_expires_us);
	record_add_digest(d, "spec_sha256", &job->approved_sha256);
	return d;
}

struct json *
record_stale(const struct job *job, const struct json *changes)
{
	struct json *d = record_begin(job);

	record_add_digest(d, "spec_sha256", &job->approved_sha256);
	json_add(d, "changes", json_copy(changes));
	return d;
}

struct json *
record_dispatch(const struct job *job, const struct run_name *run, const uint8_t digest[32])
{
	struct json *d = record_begin(job);
	char hex[2 * DIGEST_BYTES + 1];

	json_add_integer(d, "attempt", run->attempt);
	json_add_integer(d, "slot", run->slot);
	text_hex(hex, digest, DIGEST_BYTES);
	json_add_text(d, "spec_sha256", hex);
	return d;
}

struct json *
record_step(const struct job *job, const struct record_who *who)
{
	struct json *d = record_begin(job);

	record_add_who(d, who);
	json_add_text(d, "status", job_status_name(job->status));
	return d;
}

static void
add_stream(struct json *d, const char *name, int64_t bytes, const struct bytes *sha256)
{
	struct json *stream = json_add_object(d, name);

	json_add_integer(stream, "bytes", bytes);
	record_add_digest(stream, "sha256", sha256);
}

struct json *
record_queue(const struct record_who *who)
{
	struct json *d = json_object();

	record_add_who(d, who);
	return d;
}

struct json *
record_import(const struct record_who *who, int64_t imported, int64_t known, int64_t refused)
{
	struct json *d = record_queue(who);

	json_add_integer(d, "imported", imported);
	json_add_integer(d, "known", known);
	json_add_integer(d, "refused", refused);
	return d;
}

struct json *
record_pruned(const struct job *job, const struct record_who *who, struct json *runs)
{
	struct json *d = record_step(job, who);

	json_add(d, "runs", runs);
	return d;
}

struct json *
record_finished(const struct job *job, const struct attempt *attempt)
{
	struct json *d = record_begin(job);

	json_add_integer(d, "attempt", attempt->number);
	json_add_text(d, "outcome", outcome_name((uint32_t)attempt->outcome));
	json_add_text(d, "status", job_status_name(job->status));
	if (job->error_class)
		json_add_text(d, "error_class", job->error_class);
	if (attempt->exit_code >= 0)
		json_add_integer(d, "exit_code", attempt->exit_code);
	if (attempt->signal)
		json_add_integer(d, "signal", attempt->signal);
	if (attempt->stage) {
		json_add_text(d, "stage", stage_name((uint32_t)attempt->stage));
		json_add_integer(d, "errno", attempt->error);
	}
	if (attempt->next_try_us)
		json_add_integer(d, "next_try_us", attempt->next_try_us);
	add_stream(d, "stdout", attempt->out_bytes, &attempt->out_sha256);
	add_stream(d, "stderr", attempt->err_bytes, &attempt->err_sha256);
	return d;
}

struct json *
record_lost(const struct job *job, const struct attempt *attempt)
{
	struct json *d = record_begin(job);

	json_add_integer(d, "attempt", attempt->number);
	json_add_boolean(d, "started", attempt->started_us != 0);
	if (attempt->next_try_us)
		json_add_integer(d, "next_try_us", attempt->next_try_us);
	return d;
}

struct json *
record_policy(const uint8_t digest[32], int version, size_t rules, size_t roots,
    const struct record_who *who)
{
	struct json *d = json_object();
	char hex[2 * DIGEST_BYTES + 1];

	record_add_who(d, who);
	text_hex(hex, digest, DIGEST_BYTES);
	json_add_text(d, "policy_sha256", hex);
	json_add_integer(d, "version", version);
	json_add_integer(d, "rules", (int64_t)rules);
	json_add_integer(d, "roots", (int64_t)roots);
	return d;
}

struct json *
record_policy_refused(const char *reason, const struct record_who *who)
{
	struct json *d = json_object();

	record_add_who(d, who);
	record_add_text(d, "reason", reason);
	return d;
}
