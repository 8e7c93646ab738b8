/* What every command starts from. */
#include <sys/prctl.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "log.h"
#include "reach.h"
#include "text.h"

#include "cli.h"
#include "fault.h"

/*
 * This program reads files and starts others for its user, so it keeps its user's rights; it
 * only gives up gaining more.
 */
void
cli_begin(void)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	if (!reach_standard())
		_exit(EXIT_UNREACHABLE);
	log_open("agent-safe");
	sigaction(SIGPIPE, &ignore, NULL);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		fault_die("internal_error", "no_new_privs: %s", strerror(errno));
}

const char *
cli_value(const struct cli *cli, enum option option)
{
	return cli->options.value[option];
}

bool
cli_has(const struct cli *cli, enum option option)
{
	return cli->options.value[option] != NULL;
}

long
cli_number(const struct cli *cli, enum option option, long least, long most, long missing)
{
	const char *text = cli_value(cli, option);
	bool negative = text && text[0] == '-';
	uint64_t size;

	if (!text)
		return missing;
	if (text_number(text + negative, INT64_MAX, &size)) {
		long number = negative ? -(long)size : (long)size;

		if (number >= least && number <= most)
			return number;
	}
	fault_die("invalid_input", "--%s: a whole number from %ld to %ld", option_rows[option].name, least, most);
}

void
cli_add_text(const struct cli *cli, struct json *params, const char *key, enum option option)
{
	const char *text = cli_value(cli, option);

	if (!text)
		return;
	if (!text_is_utf8(text, strlen(text)))
		fault_die("invalid_input", "--%s is not UTF-8", option_rows[option].name);
	json_add_text(params, key, text);
}

void
cli_refuse_remote(const struct cli *cli, const char *why)
{
	if (cli->host)
		fault_die("invalid_input", "not with -H: %s", why);
}
