/* audit-verify, audit head, audit show, audit export. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "limits.h"
#include "process.h"
#include "scope.h"
#include "text.h"

#include "cli.h"
#include "commands.h"
#include "escape.h"
#include "fault.h"
#include "output.h"
#include "session.h"
#include "view.h"

#define FIRST_FD 3 /* where agent-safe-audit-verify finds the segments */

/* The log's segments, sealed now, as descriptors in order; returns what the broker says about them. */
static struct json *
ask_segments(const struct cli *cli, int *segments, size_t *count)
{
	struct session session;
	struct json *about;
	int64_t told = -1;

	cli_refuse_remote(cli, "the log comes as open files; run it on that host");
	session_open(&session, cli, REACH_CONTROL);
	about = session_ask(&session, "audit.segments", NULL);
	*count = talk_take_descriptors(&session.talk, segments, TALK_DESCRIPTORS);
	if (!json_integer(json_get(about, "count"), &told) || told != (int64_t)*count || told == 0)
		fault_die("broker_unreachable", "the broker did not hand over the log's segments");
	session_close(&session);
	return about;
}

/* Move the descriptors to 3, 4, ... and let them pass exec. */
static void
place_descriptors(const int *segments, size_t count)
{
	int high[TALK_DESCRIPTORS];

	for (size_t i = 0; i < count; i++)
		high[i] = fcntl(segments[i], F_DUPFD_CLOEXEC, FIRST_FD + TALK_DESCRIPTORS);
	for (size_t i = 0; i < count; i++)
		if (high[i] < 0 || dup2(high[i], FIRST_FD + (int)i) < 0)
			fault_die("internal_error", "descriptors: %s", strerror(errno));
}

/* Become the verifier: its exit status is ours. */
static _Noreturn void
become_verifier(char **words)
{
	char program[LIMIT_PATH];

	if (!reach_program("agent-safe-audit-verify", program, sizeof(program)))
		fault_die("internal_error", "agent-safe-audit-verify is not installed beside this program");
	words[0] = program;
	output_flush();
	process_reset_signals();
	execv(program, words);
	fault_die("internal_error", "%s: %s", program, strerror(errno));
}

int
audit_verify(struct cli *cli)
{
	static int segments[TALK_DESCRIPTORS];
	char json[] = "--json", key[] = "--key", trust[] = "--trust", fds[] = "--fds", number[16], told[128] = "";
	char *words[12] = { NULL }, *folder = cli->options.word_count > 0 ? cli->options.words[0] : NULL;
	const char *given = cli_value(cli, OPTION_KEY);
	size_t at = 1, count = 0;

	if (given && cli_has(cli, OPTION_TRUST))
		fault_die("invalid_input", "--key and --trust exclude each other");
	if (!folder) {
		struct json *about = ask_segments(cli, segments, &count);
		const char *public_key = json_text(json_get(about, "public_key"));

		if (public_key && !text_copy(told, sizeof(told), public_key))
			fault_die("broker_unreachable", "the broker's key is not one");
		json_free(about);
		place_descriptors(segments, count);
	}
	if (!output_is_table())
		words[at++] = json;
	if (cli_has(cli, OPTION_TRUST)) {
		words[at++] = trust;
		words[at++] = (char *)(uintptr_t)cli_value(cli, OPTION_TRUST);
	} else if (given || told[0]) {
		words[at++] = key;
		words[at++] = given ? (char *)(uintptr_t)given : told;
	}
	if (folder) {
		words[at++] = folder;
	} else {
		text_format(number, sizeof(number), "%zu", count);
		words[at++] = fds;
		words[at++] = number;
	}
	become_verifier(words);
}

int
audit_head(struct cli *cli)
{
	struct json *params = json_object(), *head;
	struct session session;

	cli_add_text(cli, params, "nonce", OPTION_NONCE);
	session_open(&session, cli, REACH_EITHER);
	head = session_ask(&session, "audit.head", params);
	if (output_is_table())
		for (size_t i = 0; i < json_count(head); i++)
			view_member(json_key_at(head, i), head, json_key_at(head, i));
	else
		output_json(head);
	json_free(head);
	session_close(&session);
	return EXIT_DONE;
}

/* One record for a person: number, time, who, what, and its own members. */
static void
show_record(const char *line, size_t length)
{
	static const char *const columns[] = { "seq", "t", "src", "type", "d" };
	struct json_error error;
	struct json *record = json_parse(line, length, &error);

	if (!record) {
		scoped_free char *shown = escape_text(line, length, 0);

		output_text("(not a record: %s)  %s\n", error.text, shown);
		return;
	}
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++) {
		scoped_free char *value = view_value(json_get(record, columns[i]));

		output_shown(value);
		output_text(i + 1 < sizeof(columns) / sizeof(*columns) ? "  " : "\n");
	}
	json_free(record);
}

/* A segment line by line, or byte for byte; takes fd over. */
static void
read_segment(int fd, bool show)
{
	FILE *file = fdopen(fd, "r");
	scoped_free char *line = NULL;
	size_t room = 0;
	ssize_t length;

	if (!file)
		fault_die("internal_error", "fdopen: %s", strerror(errno));
	while ((length = getline(&line, &room, file)) > 0 && !output_failed()) {
		if (!show)
			output_bytes(line, (size_t)length);
		else
			show_record(line, (size_t)length - (line[length - 1] == '\n'));
	}
	if (ferror(file))
		fault_die("internal_error", "a segment of the log cannot be read");
	fclose(file);
}

static int
read_log(const struct cli *cli, bool show)
{
	static int segments[TALK_DESCRIPTORS];
	size_t count;

	json_free(ask_segments(cli, segments, &count));
	for (size_t i = 0; i < count; i++)
		read_segment(segments[i], show);
	return EXIT_DONE;
}

/* For a person; elsewhere the same as export: the records are JSON lines themselves. */
int
audit_show(struct cli *cli)
{
	return read_log(cli, output_is_table());
}

int
audit_export(struct cli *cli)
{
	return read_log(cli, false);
}
