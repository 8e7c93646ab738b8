/* Jobs in a table, one line each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "log.h"
#include "scope.h"

#include "escape.h"
#include "listing.h"
#include "output.h"
#include "table.h"
#include "view.h"

#define LIST_COMMAND_BYTES 60 /* of a quoted command */

/* A quoted command for a list: whole when wide, else cut at a character and said so. */
static char *
list_command(const struct json *command)
{
	char *line = view_command(command), *cut = NULL;
	size_t length = strlen(line), keep = LIST_COMMAND_BYTES;

	if (length <= keep || output_form() == OUTPUT_WIDE)
		return line;
	while (keep > 0 && ((unsigned char)line[keep] & 0xc0) == 0x80)
		keep--;
	if (asprintf(&cut, "%.*s ...[+%zu bytes]", (int)keep, line, length - keep) < 0)
		fatal("out of memory");
	free(line);
	return cut;
}

static char *
escaped_member(const struct json *job, const char *key)
{
	scoped_free char *value = view_value(json_get(job, key));

	return escape_text(value, strlen(value), output_is_ascii() ? ESCAPE_ASCII : 0);
}

static void
add_row(struct table *table, const struct json *job, bool wide)
{
	static const char *const extra[] = { "source", "label", "cwd", "spec_digest" };
	scoped_free char *attempts = escaped_member(job, "attempts");
	scoped_free char *most = escaped_member(job, "max_attempts");
	char *tries = NULL;

	if (asprintf(&tries, "%s/%s", attempts, most) < 0)
		fatal("out of memory");
	table_add(table, escaped_member(job, "id"));
	table_add(table, escaped_member(job, "status"));
	table_add(table, escaped_member(job, "approval_status"));
	table_add(table, tries);
	table_add(table, view_time(json_get(job, "created_at")));
	for (size_t i = 0; wide && i < sizeof(extra) / sizeof(*extra); i++)
		table_add(table, escaped_member(job, extra[i]));
	table_add(table, list_command(json_get(job, "command")));
}

void
listing_jobs(const struct json *jobs)
{
	static const char *const narrow[] = { "ID", "STATUS", "APPROVAL", "TRIES", "CREATED", "COMMAND" };
	static const char *const wide[] = { "ID", "STATUS", "APPROVAL", "TRIES", "CREATED", "SOURCE", "LABEL",
		"DIRECTORY", "SPEC DIGEST", "COMMAND" };
	bool is_wide = output_form() == OUTPUT_WIDE;
	scoped_free char *text = NULL;
	struct table table;

	output_locale();
	if (is_wide)
		table_open(&table, wide, sizeof(wide) / sizeof(*wide));
	else
		table_open(&table, narrow, sizeof(narrow) / sizeof(*narrow));
	for (size_t i = 0; i < json_count(jobs); i++)
		add_row(&table, json_at(jobs, i), is_wide);
	text = table_text(&table);
	output_text("%s", text);
	table_close(&table);
}
