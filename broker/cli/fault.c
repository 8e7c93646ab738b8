/* Refusals and errors. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "scope.h"

#include "escape.h"
#include "fault.h"

static bool in_json, ours;

void
fault_json(bool json)
{
	in_json = json;
}

void
fault_ours(void)
{
	ours = true;
}

static int
status_of(const char *code)
{
	static const char *const unreachable[] = { "broker_unreachable", "internal_error", "output_error" };

	if (ours)
		return EXIT_OURS;
	for (size_t i = 0; i < sizeof(unreachable) / sizeof(*unreachable); i++)
		if (strcmp(code, unreachable[i]) == 0)
			return EXIT_UNREACHABLE;
	return EXIT_REFUSED;
}

/* {"error":{"code","message"}} and what else the broker told about it. */
static void
say_json(const char *code, const char *message, const struct json *data)
{
	struct json *line = json_object(), *error = json_add_object(line, "error");
	scoped_free char *text = NULL;
	scoped_free char *shown = NULL;
	size_t length;

	json_add_text(error, "code", code);
	json_add_text(error, "message", message);
	for (size_t i = 0; i < json_count(data); i++) {
		const char *key = json_key_at(data, i);

		if (strcmp(key, "code") != 0 && strcmp(key, "message") != 0)
			json_add(error, key, json_copy(json_at(data, i)));
	}
	text = json_print(line, &length);
	json_free(line);
	shown = escape_json(text, length);
	fprintf(stderr, "%s\n", shown);
}

/* What else the broker told, one line for each text of its lists: what changed, which fields differ. */
static void
say_lists(const struct json *data)
{
	for (size_t i = 0; i < json_count(data); i++) {
		const struct json *list = json_at(data, i);

		for (size_t at = 0; json_is_array(list) && at < json_count(list); at++) {
			const char *key = json_key_at(data, i), *text = json_text(json_at(list, at));
			scoped_free char *name = escape_text(key, strlen(key), 0);
			scoped_free char *shown = text ? escape_text(text, strlen(text), 0) : NULL;

			if (shown)
				fprintf(stderr, "  %s: %s\n", name, shown);
		}
	}
}

int
fault_say(const struct talk_fault *fault)
{
	scoped_free char *code = escape_text(fault->code, strlen(fault->code), 0);
	scoped_free char *message = escape_text(fault->message, strlen(fault->message), ESCAPE_LINES);

	if (in_json)
		say_json(code, message, json_is_object(fault->data) ? fault->data : NULL);
	else
		fprintf(stderr, "agent-safe: %s: %s\n", code, message);
	if (!in_json && json_is_object(fault->data))
		say_lists(fault->data);
	return status_of(fault->code);
}

void
fault_end(const struct talk_fault *fault)
{
	fflush(stdout);
	exit(fault_say(fault));
}

void
fault_die(const char *code, const char *format, ...)
{
	struct talk_fault fault = { 0 };
	va_list arguments;

	va_start(arguments, format);
	if (vsnprintf(fault.message, sizeof(fault.message), format, arguments) < 0)
		fault.message[0] = '\0';
	va_end(arguments);
	snprintf(fault.code, sizeof(fault.code), "%s", code);
	fault_end(&fault);
}

void
fault_note(const char *format, ...)
{
	scoped_free char *shown = NULL;
	char text[2048];
	va_list arguments;

	va_start(arguments, format);
	if (vsnprintf(text, sizeof(text), format, arguments) < 0)
		text[0] = '\0';
	va_end(arguments);
	shown = escape_text(text, strlen(text), 0);
	fprintf(stderr, "agent-safe: %s\n", shown);
}
