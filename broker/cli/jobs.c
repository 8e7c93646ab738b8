/* Looking at jobs: list, inbox, show, assess, wait. */
#include <string.h>

#include "json.h"
#include "limits.h"
#include "loop.h"
#include "text.h"

#include "cli.h"
#include "commands.h"
#include "fault.h"
#include "job.h"
#include "listing.h"
#include "output.h"
#include "session.h"
#include "view.h"

#define PAGE 1000 /* most that one job.list may ask for */
#define LISTED_MOST 1000000

/* What was asked for, as parameters of job.list; one page is asked for at a time. */
static struct json *
list_params(const struct cli *cli, bool inbox, long left, const char *cursor)
{
	struct json *params = json_object(), *statuses = NULL;

	json_add_integer(params, "limit", left < PAGE ? left : PAGE);
	if (inbox)
		json_add_boolean(params, "inbox", true);
	for (size_t i = 0; i < cli->options.many_count; i++) {
		if (!statuses)
			statuses = json_add_array(params, "status");
		if (!text_is_utf8(cli->options.many[i].value, strlen(cli->options.many[i].value)))
			fault_die("invalid_input", "--status: no such status");
		json_add_text(statuses, NULL, cli->options.many[i].value);
	}
	cli_add_text(cli, params, "approval", OPTION_APPROVAL);
	cli_add_text(cli, params, "source", OPTION_SOURCE);
	cli_add_text(cli, params, "label", OPTION_LABEL);
	cli_add_text(cli, params, "since", OPTION_SINCE);
	cli_add_text(cli, params, "until", OPTION_UNTIL);
	if (cli_has(cli, OPTION_SUBMITTER))
		json_add_integer(params, "submitter", cli_number(cli, OPTION_SUBMITTER, 0, UINT32_MAX - 1, 0));
	if (cli_has(cli, OPTION_ALL) && !inbox)
		json_add_boolean(params, "hooks", true);
	if (cli_has(cli, OPTION_NEWEST))
		json_add_boolean(params, "newest", true);
	if (cursor)
		json_add_text(params, "cursor", cursor);
	return params;
}

/* Page by page into one array. */
static int
list(struct cli *cli, bool inbox)
{
	long left = cli_has(cli, OPTION_ALL) ? LISTED_MOST : cli_number(cli, OPTION_LIMIT, 1, 1000, 100);
	struct json *all = json_array(), *page = NULL;
	const char *cursor = NULL;
	struct session session;

	if (cli_has(cli, OPTION_ALL) && cli_has(cli, OPTION_LIMIT))
		fault_die("invalid_input", "--all and --limit exclude each other");
	session_open(&session, cli, REACH_EITHER);
	do {
		struct json *next = session_ask(&session, "job.list", list_params(cli, inbox, left, cursor));
		const struct json *jobs = json_get(next, "jobs");

		json_free(page); /* cursor pointed into it */
		page = next;
		for (size_t i = 0; i < json_count(jobs) && left > 0; i++, left--)
			json_add(all, NULL, json_copy(json_at(jobs, i)));
		cursor = json_count(jobs) > 0 ? json_text(json_get(page, "next_cursor")) : NULL;
	} while (cursor && left > 0);
	if (output_is_table())
		listing_jobs(all);
	else
		output_array(all);
	json_free(page);
	json_free(all);
	session_close(&session);
	return EXIT_DONE;
}

int
jobs_list(struct cli *cli)
{
	return list(cli, false);
}

int
jobs_inbox(struct cli *cli)
{
	return list(cli, true);
}

/* For a person both commands show the same: job, verdict, program, everything that would run. */
static void
view_both(struct session *session, const struct cli *cli)
{
	struct talk_fault fault = { 0 };
	struct json *job = session_ask(session, "job.get", job_params(cli));
	struct json *assessment = talk_call(&session->talk, "job.assess", job_params(cli), -1, -1, &fault);

	view_job(job, assessment);
	if (!assessment)
		fault_note("not assessed: %s: %s", fault.code, fault.message);
	talk_fault_clear(&fault);
	json_free(job);
	json_free(assessment);
}

static int
look(struct cli *cli, const char *method)
{
	struct session session;

	session_open(&session, cli, REACH_EITHER);
	if (output_is_table()) {
		view_both(&session, cli);
	} else {
		struct json *result = session_ask(&session, method, job_params(cli));

		output_json(result);
		json_free(result);
	}
	session_close(&session);
	return EXIT_DONE;
}

int
jobs_show(struct cli *cli)
{
	return look(cli, "job.get");
}

int
jobs_assess(struct cli *cli)
{
	return look(cli, "job.assess");
}

/* decided: was it approved?  ended: did it succeed? */
static int
waited_exit(const struct json *job, const char *what)
{
	const char *approval = json_text(json_get(job, "approval_status"));

	if (strcmp(what, "ended") == 0)
		return job_exit(job);
	return approval && strcmp(approval, "approved") == 0 ? EXIT_DONE : EXIT_REFUSED;
}

int
jobs_wait(struct cli *cli)
{
	const char *what = cli_has(cli, OPTION_FOR) ? cli_value(cli, OPTION_FOR) : "ended";
	long seconds = cli_number(cli, OPTION_TIMEOUT, 0, LIMIT_TIMEOUT_SECONDS, -1);
	uint64_t end = clock_monotonic_us() + (uint64_t)(seconds < 0 ? 0 : seconds) * 1000000;
	struct json *job = NULL;
	struct session session;
	uint64_t left_ms;
	int status;

	if (strcmp(what, "decided") != 0 && strcmp(what, "ended") != 0)
		fault_die("invalid_input", "--for: decided or ended");
	session_open(&session, cli, REACH_EITHER);
	do {
		struct json *params = job_params(cli);
		uint64_t now = clock_monotonic_us();

		left_ms = seconds < 0 ? 600000 : now < end ? (end - now) / 1000 : 0;
		json_add_text(params, "for", what);
		json_add_integer(params, "timeout_ms", left_ms < 600000 ? (int64_t)left_ms : 600000);
		json_free(job);
		job = session_ask(&session, "job.wait", params);
	} while (!talk_is_reached(job, what) && left_ms > 0);
	session_close(&session);
	job_print(job);
	if (!talk_is_reached(job, what))
		fault_die("wait_timeout", "the job is not %s yet", what);
	status = waited_exit(job, what);
	json_free(job);
	return status;
}
