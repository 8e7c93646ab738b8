/* Denied calls in words. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "log.h"
#include "scope.h"
#include "text.h"

#include "denials.h"
#include "fault.h"
#include "output.h"
#include "view.h"

static int64_t
integer(const struct json *object, const char *key)
{
	int64_t number = 0;

	json_integer(json_get(object, key), &number);
	return number;
}

char *
denials_call(const struct json *denial)
{
	const char *name = json_text(json_get(denial, "call"));
	int64_t argument = integer(denial, "argument"), at;
	char text[128], *made;
	size_t used;

	if (name)
		text_format(text, sizeof(text), "%.40s", name);
	else
		text_format(text, sizeof(text), "call %lld", (long long)integer(denial, "number"));
	if (argument > 0 && argument <= 6) {
		used = strlen(text);
		text[used++] = '(';
		for (at = 1; at < argument; at++, used += 2)
			memcpy(text + used, "_,", 2);
		text_format(text + used, sizeof(text) - used, "0x%llx)",
		    (unsigned long long)integer(denial, "value"));
	}
	made = strdup(text);
	if (!made)
		fatal("out of memory");
	return made;
}

static void
view_one(const struct json *denial, const char *key)
{
	scoped_free char *call = denials_call(denial);
	scoped_free char *what = view_value(json_get(denial, key));
	int64_t count = integer(denial, "count");

	output_text("  ");
	output_shown(call);
	output_text(strcmp(key, "errno") == 0 ? ": " : ": not by ");
	output_shown(what);
	output_text(count == 1 ? ", once\n" : ", %lld times\n", (long long)count);
}

static void
view_all(const char *heading, const struct json *list, const char *key)
{
	if (json_count(list) > 0)
		output_text("%s\n", heading);
	for (size_t i = 0; i < json_count(list); i++)
		view_one(json_at(list, i), key);
}

/* Ends that a refusal often leads to: not found, not executable, a foreign architecture's call. */
static bool
may_be_denial(const struct json *job)
{
	const struct json *attempts = json_get(job, "attempts_log");
	const struct json *last = json_count(attempts) > 0 ?
	    json_at(attempts, json_count(attempts) - 1) : NULL;
	int64_t exit_code = integer(last, "exit_code");

	return exit_code == EXIT_NOT_EXECUTABLE || exit_code == EXIT_NOT_FOUND ||
	    integer(last, "signal") == SIGSYS;
}

void
denials_view(const struct json *job)
{
	const struct json *report = json_get(job, "denial_report");

	if (!json_is_object(report)) {
		if (may_be_denial(job))
			view_field("what was denied", "is not counted outside of profile debug, "
			    "see agent-safe policy learn --help");
		return;
	}
	output_text("%-16s %lld", "denied calls", (long long)integer(report, "refused"));
	if (integer(report, "unlisted") > 0)
		output_text(" (and %lld not listed below)", (long long)integer(report, "unlisted"));
	output_text("\n");
	view_all("denied, by call", json_get(job, "denials"), "errno");
	view_all("passed, but other profiles refuse it", json_get(report, "would_refuse"), "refused_by");
	view_field("denied paths", "agent-safe doctor --denials has them where the kernel's audit is on");
}
