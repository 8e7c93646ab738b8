#ifndef CLI_H
#define CLI_H

/* What one call of agent-safe was asked: filled by command_read(), read by the commands. */
#include "options.h"
#include "place.h"

struct command;
struct json;

struct cli {
	struct options options;
	struct place_wish wish;
	const char *host; /* -H; NULL: this host */
	const struct command *command;
};

/* Missing standard descriptors, no_new_privs, SIGPIPE. */
void cli_begin(void);

/* The option's value, or NULL. */
const char *cli_value(const struct cli *cli, enum option option);
bool cli_has(const struct cli *cli, enum option option);

/* A whole number between least and most, `missing` when not given; ends the process otherwise. */
long cli_number(const struct cli *cli, enum option option, long least, long most, long missing);

/* Add the option as text when it was given; ends the process when it is not UTF-8. */
void cli_add_text(const struct cli *cli, struct json *params, const char *key, enum option option);

/* Ends the process when -H was given: this command cannot go over ssh, and why. */
void cli_refuse_remote(const struct cli *cli, const char *why);

#endif
