/* The command line of launch, and the place that it means. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "launch.h"
#include "refuse.h"

#define USAGE "agent-safe-launch [--system | --workspace DIR] [--policy FILE] [--state DIR] [--log-to-stderr] " \
	"[--allow-commands]"

/* An option with a value takes the next word. */
static const char *
value_of(int argc, char **argv, int *at)
{
	if (*at + 1 >= argc)
		refuse_start("invalid_input", "%s needs a value: " USAGE, argv[*at]);
	return argv[++*at];
}

static void
read_words(struct launch *launch, int argc, char **argv)
{
	for (int at = 1; at < argc; at++) {
		if (strcmp(argv[at], "--system") == 0)
			launch->wish.system = true;
		else if (strcmp(argv[at], "--log-to-stderr") == 0)
			launch->keep_stderr = true;
		else if (strcmp(argv[at], "--allow-commands") == 0)
			launch->wish.allow_commands = true;
		else if (strcmp(argv[at], "--workspace") == 0)
			launch->wish.workspace = value_of(argc, argv, &at);
		else if (strcmp(argv[at], "--policy") == 0)
			launch->wish.policy = value_of(argc, argv, &at);
		else if (strcmp(argv[at], "--state") == 0)
			launch->wish.state = value_of(argc, argv, &at);
		else
			refuse_start("invalid_input", "%s is no option: " USAGE, argv[at]);
	}
}

static void
find_place(struct launch *launch)
{
	char why[512];

	switch (place_find(&launch->wish, &launch->place, why, sizeof(why))) {
	case PLACE_FOUND:
		break;
	case PLACE_NONE:
		refuse_start("no_workspace", "%s", why);
	case PLACE_BAD:
		refuse_start("invalid_input", "%s", why);
	}
	if (strchr(launch->place.state, '\n') || strchr(launch->place.workspace, '\n'))
		refuse_start("invalid_input", "a path with a line break in it cannot be a workspace or state");
}

void
options_read(struct launch *launch, int argc, char **argv)
{
	read_words(launch, argc, argv);
	find_place(launch);
	launch->root = geteuid() == 0;
	launch->self = (struct identity){ geteuid(), getegid() };
	launch->boot.mode = launch->place.mode;
	launch->lock_fd = launch->state_fd = launch->policy_fd = launch->jobs_fd = -1;
	launch->courier_home_fd = -1;
	if (getuid() != geteuid() || getgid() != getegid())
		refuse_start("not_permitted", "launch is no set-uid program");
}
