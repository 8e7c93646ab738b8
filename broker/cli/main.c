/*
 * agent-safe - the operator's hand: asks the broker, prints what it says.
 *
 * holds     the rights of the account that calls it, no more; a socket to the broker
 * hears     the broker's answers, over control.sock or propose.sock
 * never     touches queue, policy decisions or log itself; sends an environment value the policy does not name
 * if taken  can do what its user can do; the broker still asks the kernel who that is
 */
#include "cli.h"
#include "command.h"
#include "output.h"

int
main(int argc, char **argv)
{
	static struct cli cli;
	const struct command *command;

	cli_begin();
	command = command_read(&cli, argc, argv);
	return output_end(command->run(&cli));
}
