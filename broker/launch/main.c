/*
 * agent-safe-launch - opens what needs privilege, ties the sockets, starts the three, ends.
 *
 * holds     root, when root starts it, for less than a second
 * hears     its few options; the bounds that the broker's own binary reads from the policy
 * never     parses JSON, stays, or lets one of the three keep its uid
 * if taken  it is root: so it reads nothing that a stranger wrote, except lengths it checks
 */
#include <unistd.h>

#include "cage.h"
#include "cgroup.h"
#include "launch.h"
#include "process.h"
#include "state.h"
#include "trio.h"

int
main(int argc, char **argv)
{
	static struct launch launch;

	options_read(&launch, argc, argv);
	process_begin("launch", STDERR_FILENO);
	programs_open(&launch);
	if (!state_lock(&launch))
		return 0; /* another trio lives: it serves */

	cage_require(&launch);
	uids_choose(&launch);
	state_open(&launch);
	policy_bounds_read(&launch);
	commands_open(&launch);
	roots_open(&launch);
	state_record(&launch);
	cgroup_open(&launch);
	recover_log(&launch);
	sockets_open(&launch);
	trio_start(&launch);
	return 0;
}
