/* The d of records of what somebody wants to be run. */
#include <stdlib.h>
#include <string.h>

#include "digest.h"
#include "scope.h"
#include "text.h"

#include "hidden.h"
#include "record.h"
#include "record_parts.h"

#define COMMAND_MOST 32768 /* of the printed command; a longer one is recorded by its digest */

static void
add_command(struct json *d, const struct job *job)
{
	struct json *whole = json_object(), *summary;
	struct bytes shown = hidden_argv(job);
	uint8_t sha256[DIGEST_BYTES];
	char hex[2 * DIGEST_BYTES + 1];
	size_t length;
	scoped_free char *printed = NULL;

	hidden_add_command(whole, "command", job);
	printed = json_print(json_get(whole, "command"), &length);
	if (length <= COMMAND_MOST)
		json_add(d, "command", json_copy(json_get(whole, "command")));
	else {
		digest_take(sha256, shown.at, shown.length);
		text_hex(hex, sha256, DIGEST_BYTES);
		summary = json_add_object(d, "command");
		json_add_integer(summary, "elements", (int64_t)jobs_list_count(&job->argv));
		json_add_integer(summary, "bytes", (int64_t)shown.length);
		json_add_text(summary, "sha256", hex); /* over the elements, each with a NUL behind it */
	}
	json_free(whole);
	bytes_free(&shown);
}

/* What somebody wants to be run. */
static struct json *
begin_wish(const struct job *job, const struct record_who *who)
{
	struct json *d = record_begin(job);

	record_add_who(d, who);
	record_add_text(d, "key", job->key);
	add_command(d, job);
	record_add_text(d, "cwd", job->cwd);
	json_add_integer(d, "timeout", job->timeout_seconds);
	json_add_integer(d, "max_attempts", job->max_attempts);
	json_add_text(d, "source", job->hook ? "hook" : job->source);
	return d;
}

struct json *
record_imported(const struct job *job, const struct record_who *who)
{
	return begin_wish(job, who);
}

struct json *
record_proposed(const struct job *job, bool allowed, const char *reason)
{
	struct record_who who = { job->submitter_uid, job->submitter_gid, job->submitter_pid,
		NULL };
	struct json *d = begin_wish(job, &who);

	if (job->label)
		record_add_text(d, "label", job->label);
	if (job->meta)
		record_add_text(d, "meta", job->meta);
	json_add_boolean(d, "allowed", allowed);
	record_add_text(d, "reason", reason);
	record_add_digest(d, "spec_sha256", &job->spec_sha256);
	return d;
}

struct json *
record_override(const struct job *job, const struct record_who *who, const char *reason,
    const char *(*rule_of)(const void *context, size_t element), const void *context)
{
	struct json *d = record_begin(job), *elements;
	size_t element = 0;
	char place[32], hex[HIDDEN_HEX];

	record_add_who(d, who);
	record_add_text(d, "reason", reason);
	elements = json_add_array(d, "elements");
	for (const char *arg = jobs_list_next(&job->argv, NULL); arg;
	     arg = jobs_list_next(&job->argv, arg), element++) {
		struct json *one;

		if (!hidden_element(job, element))
			continue;
		one = json_add_object(elements, NULL);
		text_format(place, sizeof(place), "command[%zu]", element);
		json_add_text(one, "place", place);
		json_add_text(one, "rule", rule_of(context, element));
		hidden_hmac(job, arg, hex);
		json_add_text(one, "hmac", hex);
	}
	record_add_digest(d, "spec_sha256", &job->spec_sha256);
	return d;
}

struct json *
record_hook(const struct job *job, const struct json *event)
{
	struct json *d = record_proposed(job, true, "the policy runs it on this event"),
	            *hook = json_add_object(d, "hook");
	const char *about = json_text(json_get(json_get(event, "data"), "job"));
	uint8_t sha256[DIGEST_BYTES];
	char hex[2 * DIGEST_BYTES + 1];
	int64_t cursor = 0;

	json_integer(json_get(event, "cursor"), &cursor);
	digest_take(sha256, job->stdin_bytes.at, job->stdin_bytes.length);
	text_hex(hex, sha256, DIGEST_BYTES);
	json_add_text(hook, "event", job->hook);
	json_add_text(hook, "job", about);
	json_add_integer(hook, "sn", cursor - 1);
	json_add_text(hook, "stdin_sha256", hex);
	return d;
}

struct json *
record_hook_approved(const struct job *job, const struct record_who *who, const uint8_t policy[32])
{
	struct json *d = record_decision(job, who, NULL);
	char hex[2 * DIGEST_BYTES + 1];

	text_hex(hex, policy, DIGEST_BYTES);
	json_add_text(d, "policy_sha256", hex);
	return d;
}

struct json *
record_refused(const struct record_who *who, const char *code, const char *what, const char *rule)
{
	struct json *d = json_object();

	record_add_who(d, who);
	json_add_text(d, "code", code);
	json_add_text(d, "what", what);
	if (rule)
		json_add_text(d, "rule", rule);
	return d;
}
