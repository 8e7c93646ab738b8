/*
 * What the executor keeps, each inside its one user namespace only, and why:
 *
 *   SYS_ADMIN  clone a job's namespaces, mount its cage
 *   SETUID, SETGID  become a slot's init and job; open files under their ids
 *   SETPCAP    lock a job's securebits
 *   NET_ADMIN  raise a job's own loopback: only where the policy's bounds have a network
 *   KILL       end a keeper that broke the contract; init forwards signals to another uid
 *
 * No Landlock: a Landlocked process cannot mount.
 */
#include <linux/capability.h>

#include <errno.h>
#include <string.h>

#include "confine.h"
#include "log.h"

#include "executor.h"
#include "filter.h"

#define BIT(capability) (1ull << (capability))

void
executor_confine(const struct executor *executor)
{
	uint64_t kept = BIT(CAP_SYS_ADMIN) | BIT(CAP_SETUID) | BIT(CAP_SETGID) | BIT(CAP_SETPCAP) |
	    BIT(CAP_KILL);

	if (executor->boot.network != NETWORK_NONE)
		kept |= BIT(CAP_NET_ADMIN);
	confine_privileges(kept);
	if (filter_load_own() < 0)
		fatal("own filter: %s", strerror(errno));
}
