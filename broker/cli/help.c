/* --help and --version. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

#include "cli.h"
#include "command.h"
#include "commands.h"
#include "fault.h"
#include "help.h"
#include "output.h"

static void
print_option(enum option option)
{
	const struct option_row *row = &option_rows[option];
	char left[80];

	if (row->help[0] == '\0')
		return;
	text_format(left, sizeof(left), "%c%c%s--%s%s%s", row->letter ? '-' : ' ', row->letter ? row->letter : ' ',
	    row->letter ? ", " : "  ", row->name, row->value ? " " : "", row->value ? row->value : "");
	if (strlen(left) > 30)
		output_text("  %s\n%34s%s\n", left, "", row->help);
	else
		output_text("  %-30s  %s\n", left, row->help);
}

static void
print_examples(const char *examples)
{
	if (!examples)
		return;
	output_text("\nExamples:\n");
	while (*examples) {
		size_t length = strcspn(examples, "\n");

		output_text("  $ agent-safe %.*s\n", (int)length, examples);
		examples += length + (examples[length] == '\n');
	}
}

static void
print_command(const struct command *command)
{
	output_text("Usage: agent-safe [OPTION...] %s%s%s%s\n\n%s\n", command->name,
	    command->options[0] != OPTION_NONE ? " [OPTION...]" : "", command->arguments[0] ? " " : "",
	    command->arguments, command->help);
	if (command->options[0] != OPTION_NONE)
		output_text("\nOptions:\n");
	for (const enum option *at = command->options; *at != OPTION_NONE; at++)
		print_option(*at);
	print_examples(command->examples);
}

static void
print_all(void)
{
	output_text("Usage: agent-safe [OPTION...] COMMAND ...\n\n"
	    "Commands that AI agents propose, decided by a person, run in a cage, on record.\n\nCommands:\n");
	for (const struct command *row = command_table; row->name; row++)
		output_text("  %-16s %s\n", row->name, row->help);
	output_text("\nOptions:\n");
	for (const enum option *at = option_globals; *at != OPTION_NONE; at++)
		print_option(*at);
	print_examples("init-policy\nsubmit -- /usr/bin/wc -l README.md\ninbox\n"
	    "approve ID --by ana\nrun ID --execute\naudit-verify");
	output_text("\n`agent-safe COMMAND --help` says more; so does man agent-safe.\n");
}

void
help_print(const struct command *command)
{
	if (command)
		print_command(command);
	else
		print_all();
	exit(output_end(EXIT_DONE));
}

void
help_version(void)
{
	output_text("agent-safe " AGENT_SAFE_VERSION "\n");
	exit(output_end(EXIT_DONE));
}

int
help_command(struct cli *cli)
{
	const struct options *options = &cli->options;
	const struct command *command;
	bool two;

	if (options->word_count == 0)
		help_print(NULL);
	command = command_find(options->words[0], options->word_count > 1 ? options->words[1] : NULL, &two);
	if (!command)
		fault_die("invalid_input", "no such command; `agent-safe --help` lists them");
	help_print(command);
}
