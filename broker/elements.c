/* The lists of a proposal: its command and its environment. */
#include <stdlib.h>
#include <string.h>

#include "limits.h"
#include "log.h"
#include "scope.h"
#include "text.h"

#include "broker.h"
#include "elements.h"
#include "submission.h"

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
		return submission_reject(operation, "invalid_input", "command", NULL,
		    "command[%zu] must be a text or {\"b64\":...}", index);
	if (memchr(bytes, '\0', length))
		return submission_reject(operation, "invalid_input", "command", NULL,
		    "command[%zu] holds a NUL", index);
	if (index == 0 && length == 0)
		return submission_reject(operation, "invalid_input", "command", NULL,
		    "command[0] is empty");
	if (length > LIMIT_ARG_BYTES)
		return submission_reject(operation, "limit_exceeded", "command", NULL,
		    "command[%zu] is longer than %d bytes", index, LIMIT_ARG_BYTES);
	append(argv, bytes, length);
	return true;
}

bool
elements_command(struct operation *operation, struct job *job)
{
	const struct json *command = json_get(operation->request.params, "command");
	size_t count = json_count(command), printed;
	scoped_free char *text = NULL;

	if (!json_is_array(command) || count == 0)
		return submission_reject(operation, "invalid_input", "command", NULL,
		    "command must be an array, not empty");
	if (count > LIMIT_ARG_COUNT)
		return submission_reject(operation, "limit_exceeded", "command", NULL,
		    "command has more than %d elements", LIMIT_ARG_COUNT);
	for (size_t i = 0; i < count; i++)
		if (!read_argument(operation, json_at(command, i), i, &job->argv))
			return false;
	text = json_print(command, &printed);
	if (job->argv.length > LIMIT_ARGV_BYTES ||
	    printed > LIMIT_ARGV_BYTES / 3 * 4 + LIMIT_ARG_COUNT * 16)
		return submission_reject(operation, "limit_exceeded", "command", NULL,
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
		return submission_reject(operation, "invalid_input", "environment", NULL,
		    "a name in environment is not one");
	if (!bytes || memchr(bytes, '\0', length))
		return submission_reject(operation, "invalid_input", "environment", NULL,
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

bool
elements_environment(struct operation *operation, struct job *job)
{
	const struct json *environment = json_get(operation->request.params, "environment");
	char *variables[LIMIT_ENV_COUNT];
	size_t count = 0;
	bool good;

	if (!environment)
		return true;
	if (!json_is_object(environment))
		return submission_reject(operation, "invalid_input", "environment", NULL,
		    "environment must be an object");
	if (json_count(environment) > LIMIT_ENV_COUNT)
		return submission_reject(operation, "limit_exceeded", "environment", NULL,
		    "environment has more than %d variables", LIMIT_ENV_COUNT);
	good = collect_variables(operation, environment, variables, &count);
	if (good)
		qsort(variables, count, sizeof(variables[0]), by_text);
	for (size_t i = 0; i < count; i++) {
		append(&job->environment, variables[i], strlen(variables[i]));
		free(variables[i]);
	}
	if (good && job->environment.length > LIMIT_ENV_BYTES)
		return submission_reject(operation, "limit_exceeded", "environment", NULL,
		    "environment is larger than %u bytes", LIMIT_ENV_BYTES);
	return good;
}
