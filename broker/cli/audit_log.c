/* audit show, audit export: the lines of the log, one by one. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "limits.h"
#include "packed.h"
#include "scope.h"
#include "text.h"

#include "audit_export.h"
#include "audit_files.h"
#include "cli.h"
#include "commands.h"
#include "escape.h"
#include "fault.h"
#include "output.h"
#include "view.h"

/* What is wanted of the log, and what to do with a line of it: raw bytes with their newline. */
struct reader {
	struct audit_files files;
	size_t shown;        /* lines that were given to each() */
	int64_t from, until; /* seq; up to the seal that was made for us */
	const char *job;     /* or NULL: all */
	void (*each)(struct reader *reader, const char *line, size_t length, const struct json *record);
	enum audit_export format;
	struct json *held;   /* export: the record before, whose hash is the next one's prev */
	char *held_line;
	struct packed packed;
	char bytes[4 * LIMIT_RECORD_BYTES];
};

/* Parsed when it is wanted.  A line that is none is wanted too: nothing is left out. */
static void
read_line(struct reader *reader, const char *line, size_t length)
{
	struct json_error error;
	size_t bare = length - (line[length - 1] == '\n');
	struct json *record = json_parse(line, bare, &error);
	const char *job = json_text(json_get(json_get(record, "d"), "job"));
	int64_t seq;

	if (record && json_integer(json_get(record, "seq"), &seq) &&
	    (seq < reader->from || seq >= reader->until)) {
		json_free(record);
		return;
	}
	if (!reader->job || (job && strcmp(job, reader->job) == 0)) {
		reader->each(reader, line, length, record);
		reader->shown++;
	}
	json_free(record);
}

/* All whole lines of the buffer; how many bytes that were. */
static size_t
read_lines(struct reader *reader, size_t length)
{
	size_t at = 0;

	for (;;) {
		const char *newline = memchr(reader->bytes + at, '\n', length - at);
		size_t size = newline ? (size_t)(newline - reader->bytes) + 1 - at : 0;

		if (size == 0)
			return at;
		read_line(reader, reader->bytes + at, size);
		at += size;
	}
}

/* Plain or compressed.  What is longer than a line can be, or has no end, is given in pieces: it is none. */
static void
read_file(struct reader *reader, int fd)
{
	size_t held = 0, taken;
	ssize_t length = packed_open(&reader->packed, fd, false) < 0 ? -1 : 1;

	while (length > 0 && !output_failed()) {
		length = packed_read(&reader->packed, reader->bytes + held, sizeof(reader->bytes) - held);
		held += length > 0 ? (size_t)length : 0;
		taken = read_lines(reader, held);
		if (taken == 0 && held == sizeof(reader->bytes)) {
			read_line(reader, reader->bytes, held);
			taken = held;
		} else if (taken == 0 && length == 0)
			/* A torn end is no line: the next segment says how long it is, and its digest. */
			taken = held;
		memmove(reader->bytes, reader->bytes + taken, held - taken);
		held -= taken;
	}
	if (length < 0)
		fault_die(reader->packed.why ? "audit_integrity_error" : "internal_error", "a segment of the log: %s",
		    reader->packed.why ? reader->packed.why : strerror(errno));
	packed_close(&reader->packed);
	close(fd);
}

static void
read_log(struct reader *reader, const struct cli *cli)
{
	int fd;

	reader->from = cli_has(cli, OPTION_FROM) ? cli_number(cli, OPTION_FROM, 0, INT64_MAX, 0) : 0;
	audit_files_open(&reader->files, cli, NULL);
	if (!json_integer(json_get(reader->files.about, "size"), &reader->until))
		fault_die("broker_unreachable", "the broker does not say how long its log is");
	while ((fd = audit_files_next(&reader->files)) >= 0)
		read_file(reader, fd);
}

static void
print_raw(struct reader *reader, const char *line, size_t length, const struct json *record)
{
	(void)reader;
	(void)record;
	output_bytes(line, length);
}

/* --- for a person --------------------------------------------------------------------- */

/* name=value, members of objects one level down. */
static void
show_members(const struct json *object, const char *prefix)
{
	for (size_t i = 0; i < json_count(object); i++) {
		const char *key = json_key_at(object, i);
		const struct json *member = json_get(object, key);
		scoped_free char *value = NULL;

		if (json_is_object(member) && !prefix[0]) {
			show_members(member, key);
			continue;
		}
		value = view_value(member);
		output_text("  %s%s", prefix, prefix[0] ? "." : "");
		output_shown(key);
		output_text("=");
		output_shown(value);
	}
}

/* One record for a person: number, time, who, what, and its own members. */
static void
show_record(struct reader *reader, const char *line, size_t length, const struct json *record)
{
	static const char *const columns[] = { "seq", "t", "src", "type" };

	(void)reader;
	if (!record) {
		scoped_free char *shown = escape_text(line, length, 0);

		output_text("(not a record)  %s\n", shown);
		return;
	}
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++) {
		scoped_free char *value = view_value(json_get(record, columns[i]));

		output_shown(value);
		output_text("  ");
	}
	show_members(json_get(record, "d"), "");
	output_text("\n");
}

/* For a person; elsewhere the lines themselves: they are JSON. */
int
audit_show(struct cli *cli)
{
	static struct reader reader;

	reader.job = cli->options.word_count > 0 ? cli->options.words[0] : NULL;
	reader.each = output_is_table() ? show_record : print_raw;
	read_log(&reader, cli);
	if (reader.job && reader.shown == 0)
		fault_die("job_not_found", "the log has no record of this job, or none any more");
	return EXIT_DONE;
}

/* --- for other systems ------------------------------------------------------------------ */

/* The held record, now that its hash is known: the next line's prev, or the head's. */
static void
release(struct reader *reader, const char *hash)
{
	const char *origin = json_text(json_get(reader->files.about, "origin"));

	if (!reader->held)
		return;
	if (reader->format == AUDIT_EXPORT_CEF) {
		scoped_free char *text = audit_export_cef(reader->held, reader->held_line, hash, origin);

		if (!text)
			fault_die("internal_error", "out of memory");
		output_text("%s\n", text);
	} else {
		struct json *event = audit_export_record(reader->format, reader->held, reader->held_line, hash, origin);

		output_json(event);
		json_free(event);
	}
	json_free(reader->held);
	scope_free(&reader->held_line);
	reader->held = NULL;
	reader->held_line = NULL;
}

static void
convert(struct reader *reader, const char *line, size_t length, const struct json *record)
{
	if (!record)
		fault_die("audit_integrity_error", "a line of the log is not a record; audit-verify says where");
	release(reader, json_text(json_get(record, "prev")));
	reader->held = json_copy(record);
	reader->held_line = strndup(line, length - 1);
	if (!reader->held_line)
		fault_die("internal_error", "out of memory");
}

int
audit_export(struct cli *cli)
{
	static struct reader reader;

	if (!audit_export_read(cli_value(cli, OPTION_FORMAT), &reader.format))
		fault_die("invalid_input", "--format: jsonl, ecs, ocsf or cef");
	reader.each = reader.format == AUDIT_EXPORT_JSONL ? print_raw : convert;
	read_log(&reader, cli);
	release(&reader, json_text(json_get(reader.files.about, "hash")));
	return EXIT_DONE;
}
