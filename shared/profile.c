/* The cage profiles as a table. */
#include <stddef.h>
#include <string.h>

#include "profile.h"
#include "run.h"

#define MIB (1ull << 20)
#define GIB (1ull << 30)

/* Processes are counted per uid where there is no pids controller, a user's desktop with them. */
static const struct profile_row rows[PROFILE_COUNT] = {
	[PROFILE_STRICT] = { .name = "strict",
	    .purpose = "filters on text: no sockets but pairs, processes alone in /proc",
	    .proc = PROC_PIDS, .calls = CALLS_LISTED, .landlock_floor = 6,
	    .network = NETWORK_NONE, .network_most = NETWORK_NONE,
	    .memory_bytes = 1 * GIB, .tmp_bytes = 64 * MIB, .open_files = 256, .processes = 2048 },
	[PROFILE_DEFAULT] = { .name = "default",
	    .purpose = "builds and tests: git, make, gcc, python, node",
	    .proc = PROC_MASKED, .calls = CALLS_LISTED, .landlock_floor = 2,
	    .network = NETWORK_NONE, .network_most = NETWORK_TCP_PORTS, .write_paths = true,
	    .memory_bytes = 4 * GIB, .tmp_bytes = 512 * MIB, .open_files = 1024, .processes = 2048 },
	[PROFILE_AGENT] = { .name = "agent",
	    .purpose = "an agent's command line, with a loopback of its own",
	    .proc = PROC_MASKED, .calls = CALLS_REFUSED, .landlock_floor = 2,
	    .network = NETWORK_LOOPBACK, .network_most = NETWORK_TCP_PORTS, .write_paths = true,
	    .memory_bytes = 8 * GIB, .tmp_bytes = 2 * GIB, .open_files = 4096, .processes = 4096 },
	[PROFILE_COMPAT] = { .name = "compat",
	    .purpose = "what trips over `default`, and kernels from 5.14",
	    .proc = PROC_MASKED, .calls = CALLS_REFUSED, .landlock_floor = 1,
	    .network = NETWORK_NONE, .network_most = NETWORK_TCP_PORTS, .write_paths = true,
	    .memory_bytes = 4 * GIB, .tmp_bytes = 512 * MIB, .open_files = 1024, .processes = 2048 },
	[PROFILE_DEBUG] = { .name = "debug",
	    .purpose = "tracing inside the cage; what is denied is listed",
	    .proc = PROC_MASKED, .calls = CALLS_TRACED, .landlock_floor = 1,
	    .network = NETWORK_NONE, .network_most = NETWORK_TCP_PORTS, .write_paths = true,
	    .reports = true,
	    .memory_bytes = 4 * GIB, .tmp_bytes = 512 * MIB, .open_files = 1024, .processes = 2048 },
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

uint64_t
network_layers(enum network network, uint64_t layers)
{
	return network == NETWORK_TCP_PORTS ? layers & ~(uint64_t)LAYER_NETWORK_NAMESPACE : layers;
}
