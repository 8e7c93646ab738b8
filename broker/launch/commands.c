/*
 * The policy's own commands run outside the cage.  Root's system policy is root's word.  A
 * workspace's policy may have come with a checkout, and looking at a stranger's checkout must
 * start nothing: there the commands wait until somebody has allowed these very ones.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "folders.h"
#include "launch.h"
#include "refuse.h"
#include "scope.h"

#define ALLOWED "allowed-commands" /* in the state folder: their argv, each with its length */
#define ALLOWED_BYTES (sizeof(size_t) + LIMIT_COMMAND_BYTES)

struct commands {
	size_t length;
	char bytes[(1 + LIMIT_WITNESSES) * ALLOWED_BYTES];
};

static void
gather(const struct boot_audit *audit, struct commands *commands)
{
	for (unsigned i = 0; i < audit->command_count; i++) {
		const struct boot_command *command = &audit->commands[i];

		memcpy(commands->bytes + commands->length, &command->length, sizeof(command->length));
		commands->length += sizeof(command->length);
		memcpy(commands->bytes + commands->length, command->argv, command->length);
		commands->length += command->length;
	}
}

static bool
are_allowed(const struct launch *launch, const struct commands *commands)
{
	static char bytes[sizeof(commands->bytes) + 1];
	scoped_close int fd = openat(launch->state_fd, ALLOWED, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, bytes, sizeof(bytes));

	return length == (ssize_t)commands->length && memcmp(bytes, commands->bytes, commands->length) == 0;
}

static const char *
first_program(const struct boot_audit *audit)
{
	return audit->commands[audit->commands[0].length == 0].argv;
}

void
commands_open(struct launch *launch)
{
	static struct commands commands; /* large */
	const struct folder_wish wish = { launch->courier, 0700 };
	const struct boot_audit *audit = &launch->boot.audit;

	if (audit->command_count == 0)
		return;
	if (launch->root && launch->courier.uid == 0)
		refuse_start("invalid_input", "user agent-safe-courier is missing (systemd-sysusers makes it)");
	gather(audit, &commands);
	if (launch->wish.allow_commands)
		folders_write_file(launch->state_fd, launch->place.state, ALLOWED, commands.bytes, commands.length,
		    0600);
	else if (launch->place.mode != MODE_SYSTEM && !are_allowed(launch, &commands))
		refuse_start("not_permitted", "the policy's section \"audit\" has commands to be run outside the "
		    "cage (%.200s), and nobody has allowed them here: look at them, then "
		    "`agent-safe serve --allow-commands`",
		    first_program(audit));
	programs_open_courier(launch);
	launch->courier_home_fd = folders_make(launch->state_fd, launch->place.state, "courier", &wish);
}
