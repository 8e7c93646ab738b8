/* Jobs for a person. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "json.h"
#include "log.h"
#include "scope.h"
#include "text.h"

#include "denials.h"
#include "escape.h"
#include "output.h"
#include "quote.h"
#include "view.h"

static char *
copy(const char *text)
{
	char *kept = strdup(text);

	if (!kept)
		fatal("out of memory");
	return kept;
}

/* Texts and numbers of an array or object in one line: "a, b" or "x 1, y 2". */
static char *
view_members(const struct json *value)
{
	char *line = NULL;
	size_t size;
	FILE *to = open_memstream(&line, &size);

	if (!to)
		fatal("out of memory");
	for (size_t i = 0; i < json_count(value); i++) {
		scoped_free char *member = view_value(json_at(value, i));
		const char *key = json_key_at(value, i);

		fprintf(to, "%s%s%s%s", i > 0 ? ", " : "", key ? key : "", key ? " " : "", member);
	}
	if (fclose(to) != 0)
		fatal("out of memory");
	return line;
}

/* Does it hold other arrays or objects?  Then only its JSON shows what it is. */
static bool
is_nested(const struct json *value)
{
	for (size_t i = 0; i < json_count(value); i++)
		if (json_is_array(json_at(value, i)) || json_is_object(json_at(value, i)))
			return true;
	return false;
}

char *
view_value(const struct json *value)
{
	const char *text = json_text(value);
	bool many = json_is_array(value) || json_is_object(value);

	if (!value || json_is_null(value) || (many && json_count(value) == 0))
		return copy("-");
	if (text)
		return copy(text);
	return many && !is_nested(value) ? view_members(value) : json_print(value, NULL);
}

char *
view_time(const struct json *seconds)
{
	scoped_free char *number = view_value(seconds);
	char text[64];
	struct tm local;
	time_t when = (time_t)strtoll(number, NULL, 10);

	if (number[0] == '-' || !localtime_r(&when, &local) ||
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %z", &local) == 0)
		return copy("-");
	return copy(text);
}

/* One element of argv, quoted. */
static char *
quote_element(const struct json *element, size_t *length)
{
	scoped_free char *bytes = json_bytes(element, length);
	bool redacted = false;

	if (json_boolean(json_get(element, "redacted"), &redacted) && redacted) {
		*length = 0;
		return copy("<redacted>"); /* bare: no shell reads it as anything */
	}
	if (!bytes) {
		*length = 0;
		return copy("(not an argument)");
	}
	return quote_word(bytes, *length, output_is_ascii());
}

char *
view_command(const struct json *command)
{
	char *line = copy("");
	size_t used = 0;

	for (size_t i = 0; i < json_count(command); i++) {
		size_t length;
		scoped_free char *word = quote_element(json_at(command, i), &length);
		size_t size = strlen(word);

		line = realloc(line, used + size + 2);
		if (!line)
			fatal("out of memory");
		if (used > 0)
			line[used++] = ' ';
		memcpy(line + used, word, size + 1);
		used += size;
	}
	return line;
}

void
view_field(const char *name, const char *value)
{
	if (!value)
		return;
	output_text("%-16s ", name);
	output_shown(value);
	output_text("\n");
}

/* Elements of an array, one per line under one name. */
static void
view_list(const char *name, const struct json *array)
{
	for (size_t i = 0; i < json_count(array); i++) {
		scoped_free char *value = view_value(json_at(array, i));

		view_field(i == 0 ? name : "", value);
	}
}

void
view_member(const char *name, const struct json *object, const char *key)
{
	const struct json *value = json_get(object, key);
	scoped_free char *text = NULL;

	if (!value || json_is_null(value))
		return;
	if (json_is_array(value) && is_nested(value)) {
		view_list(name, value);
		return;
	}
	text = view_value(value);
	view_field(name, text);
}

static void
view_moment(const char *name, const struct json *object, const char *key)
{
	const struct json *value = json_get(object, key);
	scoped_free char *text = NULL;

	if (!value || json_is_null(value))
		return;
	text = view_time(value);
	view_field(name, text);
}

/* argv whole, one element per line with index and length; then as one line for a shell. */
static void
view_argv(const struct json *command)
{
	scoped_free char *line = view_command(command);

	output_text("%-16s %zu argument%s\n", "command", json_count(command), json_count(command) == 1 ? "" : "s");
	for (size_t i = 0; i < json_count(command); i++) {
		size_t length;
		scoped_free char *word = quote_element(json_at(command, i), &length);

		if (json_get(json_at(command, i), "redacted"))
			output_text("  [%zu] a secret that was let pass  %s\n", i, word);
		else
			output_text("  [%zu] %zu byte%s  %s\n", i, length, length == 1 ? "" : "s", word);
	}
	output_text("%-16s %s\n", "for a shell", line);
}

/* The members of an object, one per line. */
static void
view_object(const char *name, const struct json *object)
{
	if (json_count(object) == 0)
		return;
	output_text("%s\n", name);
	for (size_t i = 0; i < json_count(object); i++) {
		scoped_free char *value = view_value(json_at(object, i));

		output_text("  ");
		output_shown(json_key_at(object, i));
		output_text(" = ");
		output_shown(value);
		output_text("\n");
	}
}

/* A condition that failed, unless it was said as the reason already. */
static void
view_failed(const struct json *failed, const char *reason)
{
	const char *text = json_text(json_get(failed, "text"));

	if (json_is_null(json_get(failed, "rule")) && text && reason && strcmp(text, reason) == 0)
		return;
	view_member("  not by rule", failed, "rule");
	view_member("  because", failed, "text");
}

static void
view_verdict(const struct json *assessment)
{
	const struct json *failed = json_get(assessment, "failed");
	bool allowed = false;

	json_boolean(json_get(assessment, "allowed"), &allowed);
	output_text("%-16s ", "policy");
	output_styled(allowed ? "32" : "31", allowed ? "allowed" : "refused");
	output_text("\n");
	view_member("  reason", assessment, "reason");
	view_member("  rule", assessment, "rule_index");
	view_member("  which says", assessment, "matched_rule");
	for (size_t i = 0; i < json_count(failed); i++)
		view_failed(json_at(failed, i), json_text(json_get(assessment, "reason")));
	view_object("program", json_get(assessment, "program"));
	view_list("environment", json_get(assessment, "environment"));
	view_object("limits (0: no limit)", json_get(assessment, "limits"));
	view_member("cage profile", assessment, "profile");
	view_member("policy digest", assessment, "policy_digest");
	view_list("warning", json_get(assessment, "warnings"));
}

/* What a person needs to approve exactly this. */
static void
view_how_to_approve(const struct json *job, const char *digest)
{
	const char *id = json_text(json_get(job, "id"));
	const char *approval = json_text(json_get(job, "approval_status"));

	if (!id || !digest || !approval || strcmp(approval, "pending") != 0)
		return;
	output_text("%-16s agent-safe approve ", "to approve");
	output_shown(id);
	output_text(" --by NAME --digest ");
	output_shown(digest);
	output_text("\n");
	view_field("which covers",
	    "the program (and interpreter) by content; not files that arguments name");
}

static void
view_attempts(const struct json *attempts)
{
	static const char *const shown[] = {
		"outcome", "worker", "exit_code", "signal", "stage", "error", "reason", "duration_ms", "next_try_at",
		"stdout_bytes", "stderr_bytes", "stdout_sha256", "stderr_sha256", "redactions", "layers",
	};

	for (size_t i = 0; i < json_count(attempts); i++) {
		const struct json *one = json_at(attempts, i);
		scoped_free char *number = view_value(json_get(one, "attempt"));

		view_field("attempt", number);
		view_moment("  started", one, "started_at");
		view_moment("  ended", one, "ended_at");
		for (size_t at = 0; at < sizeof(shown) / sizeof(*shown); at++) {
			char name[32];

			text_format(name, sizeof(name), "  %s", shown[at]);
			if (strcmp(shown[at], "next_try_at") == 0)
				view_moment(name, one, shown[at]);
			else
				view_member(name, one, shown[at]);
		}
	}
}

/* The kept output of the last attempt, line by line. */
static void
view_output(const char *name, const struct json *result, const char *key)
{
	size_t length = 0;
	scoped_free char *bytes = json_bytes(json_get(result, key), &length);
	scoped_free char *shown = NULL;

	if (length == 0)
		return;
	shown = escape_text(bytes, length, ESCAPE_LINES | (output_is_ascii() ? ESCAPE_ASCII : 0));
	output_text("%s\n%s%s", name, shown, bytes[length - 1] == '\n' ? "" : "\n");
}

static void
view_decision(const struct json *job)
{
	if (json_is_null(json_get(job, "decided_by")))
		return;
	view_member("decided by", job, "decided_by");
	view_moment("decided", job, "decided_at");
	view_member("reason", job, "decision_reason");
	view_member("self-approved", job, "self_approved");
	view_moment("expires", job, "approval_expires_at");
}

void
view_job(const struct json *job, const struct json *assessment)
{
	const char *digest = json_text(json_get(assessment ? assessment : job, "spec_digest"));
	const struct json *result = json_get(job, "result");

	view_member("job", job, "id");
	view_member("status", job, "status");
	view_member("error", job, "error_class");
	view_member("approval", job, "approval_status");
	view_decision(job);
	view_member("label", job, "label");
	view_member("key", job, "idempotency_key");
	view_member("source", job, "source");
	if (json_text(json_get(job, "hook")))
		view_member("hook for", job, "hook");
	view_member("it says", job, "meta");
	view_object("submitter", json_get(job, "submitter"));
	view_moment("created", job, "created_at");
	view_moment("due", job, "available_at");
	view_list("waits for", json_get(job, "waiting_for"));
	view_argv(json_get(job, "command"));
	view_member("directory", job, "cwd");
	view_member("timeout, s", job, "timeout");
	view_member("attempts", job, "attempts");
	view_member("at most", job, "max_attempts");
	view_list("warning", json_get(job, "warnings"));
	if (assessment)
		view_verdict(assessment);
	view_field("spec digest", digest);
	view_how_to_approve(job, digest);
	view_attempts(json_get(job, "attempts_log"));
	view_member("result error", result, "error");
	view_output("violations of protected paths", result, "violations");
	view_output("protected in its depths", result, "protected");
	view_output("standard output", result, "stdout");
	view_output("standard error", result, "stderr");
	view_member("truncated", result, "truncated");
	denials_view(job);
	if (!json_is_null(json_get(job, "cage")))
		view_output("the cage it ran in", job, "cage");
	else
		view_output("its cage would be", assessment, "cage");
}

void
view_explained(const struct json *assessment)
{
	view_argv(json_get(assessment, "command"));
	view_member("directory", assessment, "cwd");
	view_member("timeout, s", assessment, "timeout");
	view_verdict(assessment);
	view_output("its cage would be", assessment, "cage");
}
