/* A proposal before it is stored. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "digest.h"
#include "limits.h"
#include "log.h"
#include "scope.h"
#include "secrets.h"
#include "text.h"

#include "broker.h"
#include "job.h"
#include "methods.h"
#include "moment.h"
#include "params.h"
#include "record.h"
#include "submission.h"
#include "workdir.h"

/* Refuse, and have it on record first: code, what it was about and which rule, never the value. */
static bool __attribute__((format(printf, 5, 6))) reject(struct operation *operation,
    const char *code, const char *what, const char *rule, const char *format, ...)
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

/* Append an element and its NUL. */
static void
append(struct bytes *list, const char *element, size_t length)
{
	unsigned char *grown = realloc(list->at, list->length + length + 2);

	if (!grown)
		fatal("out of memory");
	memcpy(grown + list->length, element, length);
	grown[list->length + length] = '\0';
	grown[list->length + length + 1] = '\0'; /* struct bytes: a NUL follows */
	list->at = grown;
	list->length += length + 1;
}

static bool
read_argument(struct operation *operation, const struct json *value, size_t index,
    struct bytes *argv)
{
	size_t length;
	scoped_free char *bytes = json_bytes(value, &length);

	if (!bytes)
		return reject(operation, "invalid_input", "command", NULL,
		    "command[%zu] must be a text or {\"b64\":...}", index);
	if (memchr(bytes, '\0', length))
		return reject(operation, "invalid_input", "command", NULL,
		    "command[%zu] holds a NUL", index);
	if (index == 0 && length == 0)
		return reject(operation, "invalid_input", "command", NULL, "command[0] is empty");
	if (length > LIMIT_ARG_BYTES)
		return reject(operation, "limit_exceeded", "command", NULL,
		    "command[%zu] is longer than %d bytes", index, LIMIT_ARG_BYTES);
	append(argv, bytes, length);
	return true;
}

static bool
read_command(struct operation *operation, struct job *job)
{
	const struct json *command = json_get(operation->request.params, "command");
	size_t count = json_count(command), printed;
	scoped_free char *text = NULL;

	if (!json_is_array(command) || count == 0)
		return reject(operation, "invalid_input", "command", NULL,
		    "command must be an array, not empty");
	if (count > LIMIT_ARG_COUNT)
		return reject(operation, "limit_exceeded", "command", NULL,
		    "command has more than %d elements", LIMIT_ARG_COUNT);
	for (size_t i = 0; i < count; i++)
		if (!read_argument(operation, json_at(command, i), i, &job->argv))
			return false;
	text = json_print(command, &printed);
	if (job->argv.length > LIMIT_ARGV_BYTES ||
	    printed > LIMIT_ARGV_BYTES / 3 * 4 + LIMIT_ARG_COUNT * 16)
		return reject(operation, "limit_exceeded", "command", NULL,
		    "command is larger than %u bytes", LIMIT_ARGV_BYTES);
	return true;
}

static bool
is_name(const char *name)
{
	if (*name == '\0' || (*name >= '0' && *name <= '9'))
		return false;
	return name[strspn(name,
	           "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")] == '\0';
}

/* Members of an object are unique, so names are. */
static int
by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool
read_variable(struct operation *operation, const char *name, const struct json *value,
    char **variable)
{
	size_t length, room;
	scoped_free char *bytes = json_bytes(value, &length);

	if (!is_name(name))
		return reject(operation, "invalid_input", "environment", NULL,
		    "a name in environment is not one");
	if (!bytes || memchr(bytes, '\0', length))
		return reject(operation, "invalid_input", "environment", NULL,
		    "a value in environment must be a text or {\"b64\":...} without NUL");
	room = strlen(name) + length + 2;
	*variable = bytes_make(room);
	text_format(*variable, room, "%s=%s", name, bytes);
	return true;
}

static bool
collect_variables(struct operation *operation, const struct json *environment, char **variables,
    size_t *count)
{
	for (*count = 0; *count < json_count(environment); (*count)++)
		if (!read_variable(operation, json_key_at(environment, *count),
		        json_at(environment, *count), &variables[*count]))
			return false;
	return true;
}

static bool
read_environment(struct operation *operation, struct job *job)
{
	const struct json *environment = json_get(operation->request.params, "environment");
	char *variables[LIMIT_ENV_COUNT];
	size_t count = 0;
	bool good;

	if (!environment)
		return true;
	if (!json_is_object(environment))
		return reject(operation, "invalid_input", "environment", NULL,
		    "environment must be an object");
	if (json_count(environment) > LIMIT_ENV_COUNT)
		return reject(operation, "limit_exceeded", "environment", NULL,
		    "environment has more than %d variables", LIMIT_ENV_COUNT);
	good = collect_variables(operation, environment, variables, &count);
	if (good)
		qsort(variables, count, sizeof(variables[0]), by_text);
	for (size_t i = 0; i < count; i++) {
		append(&job->environment, variables[i], strlen(variables[i]));
		free(variables[i]);
	}
	if (good && job->environment.length > LIMIT_ENV_BYTES)
		return reject(operation, "limit_exceeded", "environment", NULL,
		    "environment is larger than %u bytes", LIMIT_ENV_BYTES);
	return good;
}

/* Who may have something run there: its owner, root, or the group of a shared root. */
static bool
may_work_in(struct operation *operation, const struct workdir *workdir)
{
	const struct boot_root *root = methods_root_of(operation->broker, workdir->path);
	const struct client *client = operation->client;
	bool shared = root && root->flags & ROOT_SHARED && client_has_group(client, root->gid);

	if (client->uid != 0 && client->uid != workdir->uid && !shared)
		return reject(operation, "not_permitted", "cwd", NULL,
		    "the working directory belongs to another user, and its root is not shared "
		    "with your group");
	if (workdir->uid == 0 && root && !(root->flags & ROOT_ROOT_OWNED))
		return reject(operation, "policy_denied", "cwd", NULL,
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
		return reject(operation, "invalid_input", "cwd", NULL,
		    "the working directory must come with the request, as a descriptor");
	if (!workdir_read(operation->descriptor, workdir, &why))
		return reject(operation, "invalid_input", "cwd", NULL, "%s", why);
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

static bool
read_not_before(struct operation *operation, struct job *job)
{
	const struct json *value = json_get(operation->request.params, "not_before");
	int64_t seconds;

	job->available_us = job->created_us;
	if (!value)
		return true;
	if (json_text(value) && moment_read(json_text(value), &job->available_us))
		return true;
	if (json_integer(value, &seconds) && seconds >= 0 &&
	    seconds < 253402300800) { /* year 10000 */
		job->available_us = seconds * 1000000;
		return true;
	}
	return reject(operation, "invalid_input", "not_before", NULL,
	    "not_before must be a time as in RFC 3339, or seconds since 1970");
}

static bool
read_texts(struct operation *operation, struct job *job)
{
	const char *key, *label, *source;

	if (!params_text(operation, "idempotency_key", LIMIT_KEY_BYTES, false, &key) ||
	    !params_text(operation, "label", LIMIT_LABEL_BYTES, false, &label) ||
	    !params_text(operation, "source", 3, false, &source))
		return false;
	if (key && *key == '\0')
		return reject(operation, "invalid_input", "idempotency_key", NULL,
		    "idempotency_key is empty");
	if (source && strcmp(source, "cli") != 0 && strcmp(source, "mcp") != 0)
		return reject(operation, "invalid_input", "source", NULL,
		    "source must be cli or mcp");
	job->key = bytes_text(key);
	job->key_given = key != NULL;
	job->label = bytes_text(label);
	job->source = bytes_text(source ? source : "cli");
	return true;
}

static bool
read_numbers(struct operation *operation, struct submission *submission)
{
	struct job *job = &submission->job;

	return params_integer(operation, "timeout", 1, LIMIT_TIMEOUT_SECONDS, 60,
	           &job->timeout_seconds) &&
	    params_integer(operation, "max_attempts", 1, LIMIT_ATTEMPTS, 1, &job->max_attempts) &&
	    params_integer(operation, "priority", -1000, 1000, 0, &job->priority) &&
	    params_boolean(operation, "new", false, &submission->new);
}

/* --- secrets --- */

static bool
argv_is_clean(struct operation *operation, const struct job *job)
{
	size_t count = jobs_list_count(&job->argv), index = 0, at = 0;
	scoped_free const char **argv = bytes_make(count * sizeof(*argv));
	scoped_free size_t *lengths = bytes_make(count * sizeof(*lengths));
	struct secret_finding finding;

	for (const char *arg = jobs_list_next(&job->argv, NULL); arg;
	     arg = jobs_list_next(&job->argv, arg)) {
		argv[at] = arg;
		lengths[at++] = strlen(arg);
	}
	if (!secret_in_argv(argv, lengths, count, &index, &finding))
		return true;
	return reject(operation, "sensitive_input", "command", finding.rule,
	    "command[%zu] looks like a secret (%s): nothing was stored", index, finding.rule);
}

static bool
text_is_clean(struct operation *operation, const char *what, const char *text)
{
	struct secret_finding finding;

	if (!text || !secret_in_text(text, strlen(text), &finding))
		return true;
	return reject(operation, "sensitive_input", what, finding.rule,
	    "%s looks like a secret (%s): nothing was stored", what, finding.rule);
}

static bool
is_clean(struct operation *operation, const struct job *job)
{
	for (const char *at = jobs_list_next(&job->environment, NULL); at;
	     at = jobs_list_next(&job->environment, at))
		if (!text_is_clean(operation, "environment", at))
			return false;
	return argv_is_clean(operation, job) &&
	    text_is_clean(operation, "idempotency_key", job->key_given ? job->key : NULL) &&
	    text_is_clean(operation, "label", job->label) &&
	    text_is_clean(operation, "cwd", job->cwd);
}

/* --- the whole --- */

/* Without a key of its own a proposal is known by its content. */
static void
make_key(struct job *job)
{
	struct digest_state state;
	uint8_t sha256[DIGEST_BYTES];
	char numbers[64], hex[2 * DIGEST_BYTES + 1];

	if (job->key_given)
		return;
	text_format(numbers, sizeof(numbers), "%lld %lld", (long long)job->timeout_seconds,
	    (long long)job->max_attempts);
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

	random_bytes(uuid, sizeof(uuid));
	uuid[6] = (uint8_t)((uuid[6] & 0x0f) | 0x40); /* version 4 */
	uuid[8] = (uint8_t)((uuid[8] & 0x3f) | 0x80);
	*job = (struct job){ .id = bytes_copy(uuid, sizeof(uuid)),
		.argv = bytes_copy(NULL, 0),
		.environment = bytes_copy(NULL, 0),
		.cwd_handle = bytes_copy(NULL, 0),
		.plan = bytes_copy(NULL, 0),
		.spec_sha256 = bytes_copy(NULL, 0),
		.approved_sha256 = bytes_copy(NULL, 0),
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
		"idempotency_key", "new", "label", "priority", "not_before", "source",
		"environment", NULL };
	struct submission *submission;

	if (!params_known(operation, names, true))
		return NULL;
	submission = bytes_make(sizeof(*submission));
	fill_new(&submission->job, operation->client);
	if (read_numbers(operation, submission) && read_texts(operation, &submission->job) &&
	    read_not_before(operation, &submission->job) &&
	    read_command(operation, &submission->job) &&
	    read_environment(operation, &submission->job) &&
	    read_workdir(operation, &submission->job) && is_clean(operation, &submission->job)) {
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
	if (!same_bytes(&old->environment, &new->environment))
		json_add_text(names, NULL, "environment");
}
