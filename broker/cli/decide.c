/* Deciding about one job: approve, deny, cancel, retry.  All need control.sock. */
#include "json.h"

#include "cli.h"
#include "commands.h"
#include "fault.h"
#include "job.h"
#include "session.h"

static int
decide(const struct cli *cli, const char *method, struct json *params)
{
	struct session session;
	struct json *job;

	session_open(&session, cli, REACH_CONTROL);
	job = session_ask(&session, method, params);
	job_print(job);
	json_free(job);
	session_close(&session);
	return EXIT_DONE;
}

static void
require(const struct cli *cli, enum option option)
{
	const char *value = cli_value(cli, option);

	if (!value || value[0] == '\0')
		fault_die("invalid_input", "--%s %s is required", option_rows[option].name, option_rows[option].value);
}

int
decide_approve(struct cli *cli)
{
	struct json *params = job_params(cli);

	require(cli, OPTION_BY);
	cli_add_text(cli, params, "by", OPTION_BY);
	cli_add_text(cli, params, "reason", OPTION_REASON);
	cli_add_text(cli, params, "digest", OPTION_DIGEST);
	return decide(cli, "job.approve", params);
}

int
decide_deny(struct cli *cli)
{
	struct json *params = job_params(cli);

	require(cli, OPTION_BY);
	require(cli, OPTION_REASON);
	cli_add_text(cli, params, "by", OPTION_BY);
	cli_add_text(cli, params, "reason", OPTION_REASON);
	return decide(cli, "job.deny", params);
}

int
decide_cancel(struct cli *cli)
{
	if (cli_has(cli, OPTION_ALL) == (cli->options.word_count > 0))
		fault_die("invalid_input", "cancel needs an ID, or --all");
	if (cli_has(cli, OPTION_ALL))
		return queue_cancel_all(cli);
	return decide(cli, "job.cancel", job_params(cli));
}

int
decide_retry(struct cli *cli)
{
	return decide(cli, "job.retry", job_params(cli));
}
