/* The cage profiles as a table. */
#include <stddef.h>
#include <string.h>

#include "profile.h"

static const struct profile_row rows[PROFILE_COUNT] = {
	[PROFILE_STRICT] = { "strict", "filters on text: no sockets but pairs, processes alone in /proc",
	    PROC_PIDS, CALLS_LISTED, 6, NETWORK_NONE, NETWORK_NONE, false },
	[PROFILE_DEFAULT] = { "default", "builds and tests: git, make, gcc, python, node", PROC_MASKED,
	    CALLS_LISTED, 2, NETWORK_NONE, NETWORK_TCP_PORTS, false },
	[PROFILE_AGENT] = { "agent", "an agent's command line, with a loopback of its own", PROC_MASKED,
	    CALLS_REFUSED, 2, NETWORK_LOOPBACK, NETWORK_TCP_PORTS, false },
	[PROFILE_COMPAT] = { "compat", "what trips over `default`, and kernels from 5.14", PROC_MASKED,
	    CALLS_REFUSED, 1, NETWORK_NONE, NETWORK_TCP_PORTS, false },
	[PROFILE_DEBUG] = { "debug", "tracing inside the cage; what is denied is listed", PROC_MASKED,
	    CALLS_TRACED, 1, NETWORK_NONE, NETWORK_TCP_PORTS, true },
};

static const char *const networks[NETWORK_COUNT] = {
	[NETWORK_NONE] = "none",
	[NETWORK_LOOPBACK] = "loopback",
	[NETWORK_TCP_PORTS] = "tcp-ports",
};

const struct profile_row *
profile_row(enum profile profile)
{
	return profile > 0 && profile < PROFILE_COUNT ? &rows[profile] : NULL;
}

enum profile
profile_named(const char *name)
{
	for (unsigned i = PROFILE_STRICT; i < PROFILE_COUNT; i++)
		if (strcmp(rows[i].name, name) == 0)
			return (enum profile)i;
	return 0;
}

bool
profile_within(enum profile floor, enum profile profile)
{
	return profile_row(floor) && profile_row(profile) && profile <= floor;
}

const char *
network_name(enum network network)
{
	return network < NETWORK_COUNT ? networks[network] : NULL;
}

enum network
network_named(const char *name)
{
	unsigned i = 0;

	while (i < NETWORK_COUNT && strcmp(networks[i], name) != 0)
		i++;
	return (enum network)i;
}
