/* Standard output. */
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "scope.h"

#include "escape.h"
#include "fault.h"
#include "output.h"

static enum output_form form;
static bool color;
static int failure; /* errno of the first write that failed, 0: none has */

/* After every write: what stdio forgets, a later flush cannot tell. */
static void
remember(void)
{
	if (ferror(stdout) && failure == 0)
		failure = errno ? errno : EIO;
}

bool
output_choose(const char *name)
{
	static const char *const names[] = { "table", "wide", "json", "jsonl", "name" };

	if (!name) {
		form = output_is_terminal() ? OUTPUT_TABLE : OUTPUT_JSON;
		return true;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(name, names[i]) == 0) {
			form = (enum output_form)i;
			return true;
		}
	return false;
}

static bool
is_set(const char *variable)
{
	const char *value = getenv(variable);

	return value && value[0] != '\0';
}

bool
output_choose_color(const char *when)
{
	const char *terminal = getenv("TERM");

	if (when && strcmp(when, "always") == 0)
		color = true;
	else if (when && strcmp(when, "never") == 0)
		color = false;
	else if (is_set("NO_COLOR"))
		color = false;
	else
		color = is_set("CLICOLOR_FORCE") ||
		    (output_is_terminal() && terminal && strcmp(terminal, "dumb") != 0);
	return !when || strcmp(when, "auto") == 0 || strcmp(when, "always") == 0 || strcmp(when, "never") == 0;
}

enum output_form
output_form(void)
{
	return form;
}

bool
output_is_table(void)
{
	return form == OUTPUT_TABLE || form == OUTPUT_WIDE;
}

/* Its files take as long to read as some commands: only who prints for a person needs them. */
void
output_locale(void)
{
	static bool read;

	if (!read)
		setlocale(LC_CTYPE, "");
	read = true;
}

bool
output_is_ascii(void)
{
	output_locale();
	return strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
}

bool
output_is_terminal(void)
{
	return isatty(STDOUT_FILENO) == 1;
}

void
output_json(const struct json *value)
{
	size_t length;
	scoped_free char *line = NULL;
	scoped_free char *shown = NULL;
	const char *id = json_text(json_get(value, json_get(value, "id") ? "id" : "job_id"));

	if (form == OUTPUT_NAME && id) {
		output_shown(id);
		output_text("\n");
		return;
	}
	line = json_print(value, &length);
	shown = escape_json(line, length);
	output_text("%s\n", shown);
}

void
output_array(const struct json *array)
{
	if (form == OUTPUT_JSON || output_is_table()) {
		output_json(array);
		return;
	}
	for (size_t i = 0; i < json_count(array); i++)
		output_json(json_at(array, i));
}

void
output_text(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	remember();
}

void
output_shown(const char *text)
{
	scoped_free char *shown = escape_text(text, strlen(text), output_is_ascii() ? ESCAPE_ASCII : 0);

	fputs(shown, stdout);
	remember();
}

void
output_bytes(const char *bytes, size_t length)
{
	fwrite(bytes, 1, length, stdout);
	remember();
}

void
output_styled(const char *style, const char *text)
{
	if (color)
		output_text("\033[%sm%s\033[0m", style, text);
	else
		output_text("%s", text);
}

bool
output_flush(void)
{
	fflush(stdout);
	remember();
	return failure == 0;
}

bool
output_failed(void)
{
	return failure != 0;
}

int
output_end(int status)
{
	struct talk_fault fault = { 0 };

	if (output_flush() || failure == EPIPE)
		return status;
	talk_fault_set(&fault, "output_error", "cannot write standard output: %s", strerror(failure));
	return fault_say(&fault);
}
