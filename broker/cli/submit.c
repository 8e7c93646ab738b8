/* submit, policy explain: a command, with the working directory as a descriptor. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "limits.h"
#include "loop.h"
#include "scope.h"
#include "text.h"

#include "cli.h"
#include "commands.h"
#include "fault.h"
#include "output.h"
#include "session.h"
#include "view.h"

/* Values of the variables that the broker's policy names, and no others. */
static void
add_environment(struct json *params, const struct json *names)
{
	struct json *environment = NULL;

	for (size_t i = 0; i < json_count(names); i++) {
		const char *name = json_text(json_at(names, i));
		const char *value = name ? getenv(name) : NULL;

		if (!value)
			continue;
		if (!text_is_utf8(value, strlen(value)))
			fault_die("invalid_input", "the environment variable %s is not UTF-8", name);
		if (!environment)
			environment = json_add_object(params, "environment");
		json_add_text(environment, name, value);
	}
}

/* Seconds from now, sent as the time they mean, or the text for the broker to read. */
static void
add_moment(const struct cli *cli, struct json *params, const char *key, enum option option)
{
	const char *text = cli_value(cli, option);
	uint64_t seconds;

	if (text && text_number(text, 1u << 31, &seconds))
		json_add_integer(params, key, (int64_t)(clock_realtime_us() / 1000000 + seconds));
	else
		cli_add_text(cli, params, key, option);
}

/* --after ID[:ok|any|notok] */
static void
add_needs(const struct cli *cli, struct json *params)
{
	struct json *after = NULL;

	for (size_t i = 0; i < cli->options.many_count; i++) {
		const char *text = cli->options.many[i].value, *colon = strchr(text, ':');
		struct json *one;

		if (cli->options.many[i].option != OPTION_AFTER)
			continue;
		if (!text_is_utf8(text, strlen(text)))
			fault_die("invalid_input", "--after is not UTF-8");
		after = after ? after : json_add_array(params, "after");
		one = json_add_object(after, NULL);
		json_add_bytes(one, "job_id", text, colon ? (size_t)(colon - text) : strlen(text));
		if (colon)
			json_add_text(one, "want", colon + 1);
	}
}

/* --allow-secret command[3] --by NAME --reason TEXT */
static void
add_secrets(const struct cli *cli, struct json *params)
{
	struct json *list = NULL;

	for (size_t i = 0; i < cli->options.many_count; i++) {
		if (cli->options.many[i].option != OPTION_ALLOW_SECRET)
			continue;
		list = list ? list : json_add_array(params, "allow_secrets");
		json_add_bytes(list, NULL, cli->options.many[i].value, strlen(cli->options.many[i].value));
	}
	if (list && (!cli_has(cli, OPTION_BY) || !cli_has(cli, OPTION_REASON)))
		fault_die("invalid_input", "--allow-secret needs --by and --reason: both are recorded");
	if (!list && (cli_has(cli, OPTION_BY) || cli_has(cli, OPTION_REASON)))
		fault_die("invalid_input", "--by and --reason are for --allow-secret: a proposal is nobody's decision");
	cli_add_text(cli, params, "by", OPTION_BY);
	cli_add_text(cli, params, "reason", OPTION_REASON);
}

/* What the broker would refuse anyway, and what no line could carry. */
static void
check_size(const struct cli *cli)
{
	size_t count = cli->options.word_count, total = 0;

	if (count > LIMIT_ARG_COUNT)
		fault_die("limit_exceeded", "command has more than %d elements", LIMIT_ARG_COUNT);
	for (size_t i = 0; i < count; i++)
		total += strlen(cli->options.words[i]) + 1;
	if (total > LIMIT_ARGV_BYTES)
		fault_die("limit_exceeded", "command is larger than %u bytes", LIMIT_ARGV_BYTES);
}

static struct json *
submit_params(const struct cli *cli, const struct json *hello)
{
	struct json *params = json_object(), *command = json_add_array(params, "command");

	for (size_t i = 0; i < cli->options.word_count; i++)
		json_add_bytes(command, NULL, cli->options.words[i], strlen(cli->options.words[i]));
	if (cli_has(cli, OPTION_TIMEOUT))
		json_add_integer(params, "timeout", cli_number(cli, OPTION_TIMEOUT, 1, LIMIT_TIMEOUT_SECONDS, 0));
	json_add_integer(params, "max_attempts", cli_number(cli, OPTION_MAX_ATTEMPTS, 1, LIMIT_ATTEMPTS, 1));
	cli_add_text(cli, params, "idempotency_key", OPTION_KEY);
	cli_add_text(cli, params, "label", OPTION_LABEL);
	if (cli_has(cli, OPTION_PRIORITY))
		json_add_integer(params, "priority", cli_number(cli, OPTION_PRIORITY, -1000, 1000, 0));
	if (cli_has(cli, OPTION_NEW))
		json_add_boolean(params, "new", true);
	add_moment(cli, params, "not_before", OPTION_NOT_BEFORE);
	add_moment(cli, params, "expires", OPTION_EXPIRES);
	cli_add_text(cli, params, "retry", OPTION_RETRY);
	cli_add_text(cli, params, "group", OPTION_GROUP);
	cli_add_text(cli, params, "mutex", OPTION_MUTEX);
	add_needs(cli, params);
	add_secrets(cli, params);
	json_add_text(params, "source", "cli");
	add_environment(params, json_get(hello, "environment"));
	return params;
}

/*
 * The directory as a descriptor: O_PATH would prove nothing, anybody can O_PATH-open /etc.
 * Over ssh there are no descriptors: the other host's dial-stdio opens "cwd" there.
 */
static int
open_cwd(const struct cli *cli, struct json *params)
{
	const char *cwd = cli_has(cli, OPTION_CWD) ? cli_value(cli, OPTION_CWD) : ".";
	int fd;

	if (cli->host) {
		if (cwd[0] != '/')
			fault_die("invalid_input", "with -H, --cwd must name a directory of that host, absolute");
		cli_add_text(cli, params, "cwd", OPTION_CWD);
		return -1;
	}
	fd = open(cwd, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		fault_die("invalid_input", "working directory: %s", strerror(errno));
	return fd;
}

/* Ask about the command of the command line; the answer. */
static struct json *
ask_about(struct cli *cli, struct session *session, const char *method)
{
	struct json *params, *answer;
	int cwd_fd;

	check_size(cli);
	cwd_fd = cli->host ? -1 : open_cwd(cli, NULL); /* before a trio is started for nothing */
	session_open(session, cli, cli_has(cli, OPTION_ALLOW_SECRET) ? REACH_CONTROL : REACH_EITHER);
	params = submit_params(cli, session->hello);
	if (cli->host)
		open_cwd(cli, params);
	answer = session_ask_with(session, method, params, cwd_fd);
	scope_close(&cwd_fd);
	return answer;
}

int
submit_explain(struct cli *cli)
{
	struct session session;
	struct json *answer = ask_about(cli, &session, "policy.explain");

	if (output_is_table())
		view_explained(answer);
	else
		output_json(answer);
	json_free(answer);
	session_close(&session);
	return EXIT_DONE;
}

int
submit_job(struct cli *cli)
{
	struct session session;
	struct json *job = ask_about(cli, &session, "job.submit");
	bool created = true;

	json_boolean(json_get(job, "created"), &created);
	if (!created)
		fault_note("this was proposed before: the answer is that job");
	if (output_is_table())
		view_job(job, json_get(job, "assessment"));
	else
		output_json(job);
	json_free(job);
	session_close(&session);
	return EXIT_DONE;
}
