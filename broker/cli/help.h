#ifndef HELP_H
#define HELP_H

/* --help and --version, made from command_table and option_rows. */
struct command;

/* Of one command, or (NULL) of all; ends the process. */
_Noreturn void help_print(const struct command *command);
_Noreturn void help_version(void);

#endif
