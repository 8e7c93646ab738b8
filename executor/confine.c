/*
 * What the executor keeps, each inside its one user namespace only, and why:
 *
 *   SYS_ADMIN  clone a job's namespaces, mount its cage
 *   SETUID, SETGID  become a slot's init and job; open files under their ids
 *   SETPCAP    lock a job's securebits
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
executor_confine(void)
{
	confine_privileges(BIT(CAP_SYS_ADMIN) | BIT(CAP_SETUID) | BIT(CAP_SETGID) |
	    BIT(CAP_SETPCAP) | BIT(CAP_KILL));
	if (filter_load_own() < 0)
		fatal("own filter: %s", strerror(errno));
}
