/* Which networks a cage can have here. */
#include <string.h>

#include "landlock.h"
#include "text.h"

#include "ask.h"
#include "probe_network.h"

static void
set(struct probe *probe, enum probe_state state, const char *found, const char *remedy)
{
	probe->state = state;
	text_copy(probe->found, sizeof(probe->found), found);
	text_copy(probe->remedy, sizeof(probe->remedy), remedy);
}

void
probe_network_loopback(struct probe *probe)
{
	int error = ask_loopback();

	if (error == 0)
		set(probe, PROBE_OK, "can be given", "");
	else
		set(probe, PROBE_LESS, strerror(error), "a kernel with CONFIG_NET_NS; for an ordinary account user "
		    "namespaces too, see above: until then rules with loopback, and the profile agent, are refused");
}

/* In the host's network Landlock is the only wall before other ports, and before abstract sockets. */
void
probe_network_ports(struct probe *probe)
{
	unsigned floor = landlock_floor(PROFILE_DEFAULT, NETWORK_TCP_PORTS);
	int abi = landlock_abi();
	char found[128];

	if ((unsigned)abi >= floor) {
		set(probe, PROBE_OK, "can be given", "");
		return;
	}
	text_format(found, sizeof(found), "Landlock ABI %d, %u is needed", abi, floor);
	set(probe, PROBE_LESS, found, "Linux 6.12 or later; until then a rule with tcp_ports is refused, never run "
	    "with less");
}
