/*
 * Secrets in a proposal: refused, unless an operator on control.sock says of this very element that
 * it may pass, by whose name and why.  Then it is stored because it runs, and shown nowhere.
 */
#include <stdlib.h>
#include <string.h>

#include "limits.h"
#include "scope.h"
#include "secrets.h"
#include "text.h"

#include "broker.h"
#include "hidden.h"
#include "params.h"
#include "record.h"
#include "submission.h"

bool
submission_text_is_clean(struct operation *operation, const char *what, const char *text)
{
	struct secret_finding finding;

	if (!text || !secret_in_text(text, strlen(text), &finding))
		return true;
	return submission_reject(operation, "sensitive_input", what, finding.rule,
	    "%s looks like a secret (%s): nothing was stored", what, finding.rule);
}

/* --- what may pass --- */

static bool
begins_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* "command[3]", as a refusal names it, or "argv[3]"; 0: neither, or no argument. */
static size_t
read_element(const char *place, size_t count)
{
	const char *digits = begins_with(place, "command[") ? place + 8 :
	    begins_with(place, "argv[") ? place + 5 : "";
	size_t length = strlen(digits);
	uint64_t element;
	char number[8];

	if (length < 2 || length > sizeof(number) || digits[length - 1] != ']')
		return 0;
	memcpy(number, digits, length - 1);
	number[length - 1] = '\0';
	return text_number(number, count - 1, &element) ? (size_t)element : 0;
}

/* May this peer, under this policy, let a secret pass at all? */
static bool
may_override(struct operation *operation)
{
	const struct policy *policy = operation->broker->rules.policy;

	if (!operation->client->control)
		return submission_reject(operation, "not_permitted", "allow_secrets", NULL,
		    "only an operator, on the control socket, can let a secret pass");
	if (!policy || !policy_secret_override(policy))
		return submission_reject(operation, "policy_denied", "allow_secrets", NULL,
		    "the policy lets no secret pass: it would have to say \"secrets\": {\"override\": true}");
	return true;
}

static bool
read_elements(struct operation *operation, const struct json *list, struct submission *submission)
{
	size_t count = jobs_list_count(&submission->job.argv);

	if (!json_is_array(list) || json_count(list) == 0 || json_count(list) > LIMIT_SECRETS)
		return submission_reject(operation, "invalid_input", "allow_secrets", NULL,
		    "allow_secrets must be an array of 1 to %d elements", LIMIT_SECRETS);
	for (size_t i = 0; i < json_count(list); i++) {
		const char *place = json_text(json_at(list, i));

		submission->passes[i].element = place ? read_element(place, count) : 0;
		if (submission->passes[i].element == 0)
			return submission_reject(operation, "invalid_input", "allow_secrets", NULL,
			    "allow_secrets[%zu] must name an argument of this command, like command[1]; the "
			    "program itself is none", i);
	}
	submission->pass_count = json_count(list);
	return true;
}

/* The names stand alone too: a caller that means something by them must not be misread. */
bool
submission_read_secrets(struct operation *operation, struct submission *submission)
{
	const struct json *params = operation->request.params, *list = json_get(params, "allow_secrets");

	if (!list && !json_get(params, "by") && !json_get(params, "reason"))
		return true;
	if (!may_override(operation) || !read_elements(operation, list, submission) ||
	    !params_text(operation, "by", LIMIT_BY_BYTES, true, &submission->by) ||
	    !params_text(operation, "reason", LIMIT_REASON_BYTES, true, &submission->reason))
		return false;
	return (*submission->by && *submission->reason) ||
	    submission_reject(operation, "invalid_input", "allow_secrets", NULL,
	        "who lets a secret pass says by whose name and why: by and reason must not be empty");
}

/* --- argv --- */

struct argv {
	const char **elements; /* borrowed from the job */
	size_t *lengths;
	bool *passed;
	size_t count;
};

/* The pass for this element, or NULL. */
static struct submission_pass *
pass_of(struct submission *submission, size_t element)
{
	for (size_t i = 0; i < submission->pass_count; i++)
		if (submission->passes[i].element == element)
			return &submission->passes[i];
	return NULL;
}

/* One value, so that it is shown nowhere. */
static bool
hide(struct operation *operation, struct submission *submission, const struct argv *argv, size_t element,
    const struct secret_finding *finding)
{
	const struct plan_secret secret = { (uint32_t)element, (uint32_t)finding->at,
		(uint32_t)finding->length };

	if (hidden_count(&submission->job) == LIMIT_SECRETS || finding->length > LIMIT_SECRET_BYTES ||
	    memchr(argv->elements[element] + finding->at, '\n', finding->length))
		return submission_reject(operation, "sensitive_input", "command", finding->rule,
		    "command[%zu] holds a secret (%s) that could not be masked in the output: at most %d can "
		    "pass, each on one line and of at most %d bytes", element, finding->rule, LIMIT_SECRETS,
		    LIMIT_SECRET_BYTES);
	hidden_add(&submission->job, &secret);
	return true;
}

/* All that this element holds: the one that was found, and what stands behind it. */
static bool
hide_all(struct operation *operation, struct submission *submission, const struct argv *argv, size_t element,
    struct secret_finding finding)
{
	size_t from = 0;

	pass_of(submission, element)->rule = finding.rule;
	do {
		finding.at += from;
		if (!hide(operation, submission, argv, element, &finding))
			return false;
		from = finding.at + finding.length;
	} while (secret_in_text(argv->elements[element] + from, argv->lengths[element] - from, &finding));
	return true;
}

static bool
look_at_argv(struct operation *operation, struct submission *submission, struct argv *argv)
{
	struct secret_finding finding;
	size_t index;

	while (secret_in_argv_but(argv->elements, argv->lengths, argv->count, argv->passed, &index, &finding)) {
		if (!pass_of(submission, index))
			return submission_reject(operation, "sensitive_input", "command", finding.rule,
			    "command[%zu] looks like a secret (%s): nothing was stored", index, finding.rule);
		if (!hide_all(operation, submission, argv, index, finding))
			return false;
		argv->passed[index] = true;
	}
	for (size_t i = 0; i < submission->pass_count; i++)
		if (!submission->passes[i].rule)
			return submission_reject(operation, "invalid_input", "allow_secrets", NULL,
			    "command[%zu] does not look like a secret: there is nothing to let pass",
			    submission->passes[i].element);
	return true;
}

/* An element that repeats a value would show it: it is hidden too, unless it is the program. */
static bool
hide_repeated(struct operation *operation, struct submission *submission, const struct argv *argv)
{
	struct secret_finding finding = { .rule = "same_value" };

	for (size_t i = 0; i < argv->count && submission->pass_count > 0; i++) {
		if (hidden_element(&submission->job, i) ||
		    !hidden_find(&submission->job, argv->elements[i], &finding.at, &finding.length))
			continue;
		if (i == 0)
			return submission_reject(operation, "sensitive_input", "command", finding.rule,
			    "the program's name holds the value that shall pass");
		if (!hide(operation, submission, argv, i, &finding))
			return false;
	}
	return true;
}

static bool
argv_is_clean(struct operation *operation, struct submission *submission)
{
	const struct bytes *list = &submission->job.argv;
	size_t count = jobs_list_count(list), at = 0;
	scoped_free const char **elements = bytes_make(count * sizeof(*elements));
	scoped_free size_t *lengths = bytes_make(count * sizeof(*lengths));
	scoped_free bool *passed = bytes_make(count * sizeof(*passed));
	struct argv argv = { elements, lengths, passed, count };

	for (const char *arg = jobs_list_next(list, NULL); arg; arg = jobs_list_next(list, arg)) {
		elements[at] = arg;
		lengths[at++] = strlen(arg);
	}
	return look_at_argv(operation, submission, &argv) && hide_repeated(operation, submission, &argv);
}

/* --- the whole --- */

/* By its shape, and word for word where a value may pass in argv: there alone. */
static bool
text_is_clean(struct operation *operation, const struct submission *submission, const char *what,
    const char *text)
{
	size_t at, length;

	return submission_text_is_clean(operation, what, text) &&
	    (!hidden_find(&submission->job, text, &at, &length) ||
	        submission_reject(operation, "sensitive_input", what, "same_value",
	            "%s holds the value that shall pass in the command: nothing was stored", what));
}

bool
submission_is_clean(struct operation *operation, struct submission *submission)
{
	const struct job *job = &submission->job;

	if (!argv_is_clean(operation, submission))
		return false;
	for (const char *at = jobs_list_next(&job->environment, NULL); at;
	     at = jobs_list_next(&job->environment, at))
		if (!text_is_clean(operation, submission, "environment", at))
			return false;
	return text_is_clean(operation, submission, "idempotency_key", job->key_given ? job->key : NULL) &&
	    text_is_clean(operation, submission, "label", job->label) &&
	    text_is_clean(operation, submission, "meta", job->meta) &&
	    text_is_clean(operation, submission, "group", job->group_name) &&
	    text_is_clean(operation, submission, "mutex", job->mutex) &&
	    text_is_clean(operation, submission, "cwd", job->cwd) &&
	    text_is_clean(operation, submission, "by", submission->by) &&
	    text_is_clean(operation, submission, "reason", submission->reason);
}
