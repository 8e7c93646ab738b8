/* Ordering the queue: hold, release, drain, cancel --all, prune, watch. */
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "text.h"

#include "cli.h"
#include "commands.h"
#include "fault.h"
#include "job.h"
#include "output.h"
#include "session.h"

#define PAGE 1000

/* One job by its ID, the whole queue without. */
static int
set_held(struct cli *cli, const char *job_method, const char *queue_method)
{
	struct session session;
	struct json *answer;

	session_open(&session, cli, REACH_CONTROL);
	if (cli->options.word_count > 0) {
		answer = session_ask(&session, job_method, job_params(cli));
		job_print(answer);
	} else {
		answer = session_ask(&session, queue_method, NULL);
		output_json(answer);
	}
	json_free(answer);
	session_close(&session);
	return EXIT_DONE;
}

int
queue_hold(struct cli *cli)
{
	return set_held(cli, "job.hold", "queue.hold");
}

int
queue_release(struct cli *cli)
{
	return set_held(cli, "job.release", "queue.release");
}

/* A page of jobs in these states; the caller frees it. */
static struct json *
ask_page(struct session *session, const char *const *statuses, long limit)
{
	struct json *params = json_object(), *list = json_add_array(params, "status");

	for (; *statuses; statuses++)
		json_add_text(list, NULL, *statuses);
	json_add_integer(params, "limit", limit);
	json_add_boolean(params, "hooks", true);
	return session_ask(session, "job.list", params);
}

static const char *
id_of(const struct json *page, size_t index)
{
	return json_text(json_get(json_at(json_get(page, "jobs"), index), "id"));
}

/* Nothing new begins; done when nothing runs any more. */
int
queue_drain(struct cli *cli)
{
	static const char *const running[] = { "running", NULL };
	struct session session;
	struct json *page, *params;

	session_open(&session, cli, REACH_CONTROL);
	json_free(session_ask(&session, "queue.hold", NULL));
	while (id_of(page = ask_page(&session, running, 1), 0)) {
		params = json_object();
		json_add_text(params, "job_id", id_of(page, 0));
		json_free(page);
		json_free(session_ask(&session, "job.wait", params));
	}
	json_free(page);
	page = session_ask(&session, "queue.hold", NULL);
	output_json(page);
	json_free(page);
	session_close(&session);
	return EXIT_DONE;
}

/* False: it ended meanwhile, or somebody else was quicker. */
static bool
cancel_one(struct session *session, const char *id, struct json *all)
{
	struct talk_fault fault = { 0 };
	struct json *params = json_object(), *job;

	json_add_text(params, "job_id", id);
	job = talk_call(&session->talk, "job.cancel", params, -1, -1, &fault);
	if (job)
		json_add(all, NULL, job);
	else if (strcmp(fault.code, "invalid_job_state") != 0 && strcmp(fault.code, "job_not_found") != 0)
		fault_end(&fault);
	talk_fault_clear(&fault);
	return job != NULL;
}

int
queue_cancel_all(struct cli *cli)
{
	static const char *const open[] = { "queued", "retry_wait", "running", NULL };
	struct json *all = json_array(), *page;
	struct session session;
	size_t cancelled;

	session_open(&session, cli, REACH_CONTROL);
	do {
		page = ask_page(&session, open, PAGE);
		cancelled = 0;
		for (size_t i = 0; i < json_count(json_get(page, "jobs")); i++)
			cancelled += cancel_one(&session, id_of(page, i), all);
		json_free(page);
	} while (cancelled > 0);
	output_array(all);
	json_free(all);
	session_close(&session);
	return EXIT_DONE;
}

/* --- prune --- */

/* What is asked for the first time; then only what is left to be freed changes. */
static struct json *
prune_params(const struct cli *cli, int64_t left_bytes)
{
	long seconds = cli_number(cli, OPTION_OLDER_THAN, 0, 3153600000, -1);
	long most = cli_number(cli, OPTION_MAX_BYTES, 0, INT64_MAX, -1);
	struct json *params = json_object(), *statuses = NULL;

	if (seconds < 0 && most < 0)
		fault_die("invalid_input", "--older-than SECONDS or --max-bytes BYTES is required");
	if (seconds >= 0)
		json_add_integer(params, "older_than_seconds", seconds);
	if (left_bytes >= 0)
		json_add_integer(params, "free_bytes", left_bytes);
	else if (most >= 0)
		json_add_integer(params, "max_bytes", most);
	if (cli_has(cli, OPTION_DRY_RUN))
		json_add_boolean(params, "dry_run", true);
	for (size_t i = 0; i < cli->options.many_count; i++) {
		statuses = statuses ? statuses : json_add_array(params, "status");
		json_add_text(statuses, NULL, cli->options.many[i].value);
	}
	return params;
}

/* A hundred at a time: each is a record of the log. */
int
queue_prune(struct cli *cli)
{
	struct json *total = json_object(), *params = prune_params(cli, -1), *answer;
	int64_t pruned = 0, bytes = 0, left = -1, count = 0;
	struct session session;
	bool more = true;

	session_open(&session, cli, REACH_CONTROL);
	for (; more; params = more ? prune_params(cli, left) : NULL) {
		answer = session_ask(&session, "queue.prune", params);
		if (json_integer(json_get(answer, "pruned"), &count))
			pruned += count;
		if (json_integer(json_get(answer, "bytes"), &count))
			bytes += count;
		json_integer(json_get(answer, "left_bytes"), &left);
		if (!json_boolean(json_get(answer, "more"), &more))
			more = false;
		json_free(answer);
	}
	json_add_integer(total, "pruned", pruned);
	json_add_integer(total, "bytes", bytes);
	json_add_integer(total, "left_bytes", left > 0 ? left : 0);
	json_add_boolean(total, "dry_run", cli_has(cli, OPTION_DRY_RUN));
	output_json(total);
	json_free(total);
	session_close(&session);
	return EXIT_DONE;
}

/* --- watch --- */

/* One event per line, whatever the form: for programs, and for eyes. */
static void
print_events(const struct json *answer)
{
	const struct json *events = json_get(answer, "events");
	bool gap = false;

	if (json_boolean(json_get(answer, "gap"), &gap) && gap)
		fault_note("older events are only in the log by now: `agent-safe audit show`");
	for (size_t i = 0; i < json_count(events); i++) {
		char *line = json_print(json_at(events, i), NULL);

		output_bytes(line, strlen(line));
		output_bytes("\n", 1);
		free(line);
	}
	output_flush();
}

int
queue_watch(struct cli *cli)
{
	long cursor = cli_number(cli, OPTION_CURSOR, 0, INT64_MAX, -1);
	struct session session;
	int64_t next = cursor;

	session_open(&session, cli, REACH_EITHER);
	for (;;) {
		struct json *params = json_object(), *answer;
		bool once = cli_has(cli, OPTION_ONCE);

		if (next >= 0)
			json_add_integer(params, "cursor", next);
		json_add_integer(params, "limit", PAGE);
		json_add_integer(params, "timeout_ms", once ? 0 : 600000);
		answer = session_ask(&session, "events.read", params);
		print_events(answer);
		once = once && json_count(json_get(answer, "events")) == 0;
		json_integer(json_get(answer, "next_cursor"), &next);
		json_free(answer);
		if (once)
			break;
	}
	session_close(&session);
	return EXIT_DONE;
}
