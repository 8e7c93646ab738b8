/* mcp config: what to paste so that an agent's host starts agent-safe-mcp for this place. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "limits.h"
#include "log.h"
#include "reach.h"
#include "scope.h"
#include "text.h"

#include "cli.h"
#include "commands.h"
#include "fault.h"

/*
 * Text before the program, between it and its arguments, and after them; middle NULL: both are one
 * array.  What json.h prints as a string or an array is one in TOML too.  A `wait` takes up to 600
 * seconds: where a host gives up on a tool earlier and can be told, it is.
 */
static const struct {
	const char *host, *begin, *middle, *end;
} forms[] = {
	{ "claude", /* .mcp.json, or a file for --mcp-config */
	    "{\n  \"mcpServers\": {\n    \"agent-safe\": {\n      \"type\": \"stdio\",\n      \"command\": ",
	    ",\n      \"args\": ", "\n    }\n  }\n}\n" },
	{ "codex", /* ~/.codex/config.toml */
	    "[mcp_servers.agent-safe]\ncommand = ", "\nargs = ", "\ntool_timeout_sec = 660\n" },
	{ "gemini", /* ~/.gemini/settings.json */
	    "{\n  \"mcpServers\": {\n    \"agent-safe\": {\n      \"command\": ",
	    ",\n      \"args\": ", ",\n      \"timeout\": 660000\n    }\n  }\n}\n" },
	{ "opencode", /* opencode.json */
	    "{\n  \"mcp\": {\n    \"agent-safe\": {\n      \"type\": \"local\",\n      \"command\": ",
	    NULL, ",\n      \"enabled\": true\n    }\n  }\n}\n" },
};

static void
add_pair(struct json *words, const char *option, const char *value)
{
	if (!text_is_utf8(value, strlen(value)))
		fault_die("invalid_input", "a path that is not UTF-8 cannot be written into these files");
	json_add_text(words, NULL, option);
	json_add_text(words, NULL, value);
}

/* Absolute paths: a host starts its servers where it likes. */
static struct json *
arguments_of(const struct cli *cli)
{
	static struct place place; /* large */
	struct json *words = json_array();
	char why[256] = "";

	switch (place_find(&cli->wish, &place, why, sizeof(why))) {
	case PLACE_FOUND:
		break;
	case PLACE_NONE:
		fault_die("no_workspace", "%s", why[0] ? why : "no " PLACE_POLICY_NAME " here or above");
	default:
		fault_die("invalid_input", "%s", why);
	}
	if (cli->wish.system)
		json_add_text(words, NULL, "--system");
	else
		add_pair(words, "--workspace", place.workspace);
	if (cli->wish.policy)
		add_pair(words, "--policy", place.policy);
	if (cli->wish.state)
		add_pair(words, "--state", place.state);
	return words;
}

/* The words as a JSON array; `bare`: without its brackets. */
static void
print_words(const struct json *words, bool bare)
{
	size_t length;
	scoped_free char *printed = json_print(words, &length);

	if (bare)
		printf("%.*s", (int)length - 2, printed + 1);
	else
		printf("%s", printed);
}

static void
print_form(size_t form, struct json *program, const struct json *arguments)
{
	printf("%s", forms[form].begin);
	if (forms[form].middle) {
		print_words(program, true);
		printf("%s", forms[form].middle);
		print_words(arguments, false);
	} else {
		for (size_t i = 0; i < json_count(arguments); i++)
			json_add(program, NULL, json_copy(json_at(arguments, i)));
		print_words(program, false);
	}
	printf("%s", forms[form].end);
}

int
mcp_config(struct cli *cli)
{
	const char *host = cli->options.words[0];
	char program[LIMIT_PATH];

	cli_refuse_remote(cli, "configure `ssh HOST agent-safe mcp` as the server's command instead");
	if (!reach_program("agent-safe-mcp", program, sizeof(program)))
		fault_die("internal_error", "agent-safe-mcp is not installed beside this program");
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		struct json *words, *arguments;

		if (strcmp(forms[i].host, host) != 0)
			continue;
		words = json_array();
		json_add_text(words, NULL, program);
		arguments = arguments_of(cli);
		print_form(i, words, arguments);
		json_free(arguments);
		json_free(words);
		return EXIT_DONE;
	}
	fault_die("invalid_input", "claude, codex, gemini or opencode");
}
