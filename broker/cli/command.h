#ifndef COMMAND_H
#define COMMAND_H

/* The one table of commands: it finds them, checks their words and makes --help. */
#include <stdbool.h>
#include <stddef.h>

#include "options.h"

struct cli;

struct command {
	const char *name;      /* one word, or two: "policy reload" */
	const char *arguments; /* words of the synopsis behind the options, or "" */
	const char *help;      /* one line */
	const char *examples;  /* whole lines without "$ agent-safe ", or NULL */
	const enum option *options; /* ends with OPTION_NONE */
	size_t words_least, words_most;
	enum options_style style;
	int (*run)(struct cli *cli); /* the exit status */
};

extern const struct command command_table[]; /* ends with name NULL */

/*
 * Fill cli from argv.  Ends the process for --help, --version and every usage error (exit 2, as
 * JSON in JSON mode).
 */
const struct command *command_read(struct cli *cli, int argc, char **argv);

/* The row these words begin with, or NULL.  second may be NULL; *two: the name took both. */
const struct command *command_find(const char *first, const char *second, bool *two);

#endif
