/* What each ABI of Landlock has, and what is taken from a job on it. */
#include "landlock.h"

#define FLOOR_TCP_PORTS 6

uint64_t
landlock_fs_rights(int abi)
{
	uint64_t rights = (LL_MAKE_SYM << 1) - 1;

	if (abi < 1)
		return 0;
	if (abi >= 2)
		rights |= LL_REFER;
	if (abi >= 3)
		rights |= LL_TRUNCATE;
	if (abi >= 5)
		rights |= LL_IOCTL_DEV;
	if (abi >= 9)
		rights |= LL_RESOLVE_UNIX;
	return rights;
}

uint64_t
landlock_net_rights(int abi)
{
	uint64_t rights = 0;

	if (abi >= 4)
		rights |= LL_NET_BIND_TCP | LL_NET_CONNECT_TCP;
	if (abi >= 10)
		rights |= LL_NET_BIND_UDP | LL_NET_SEND_UDP;
	return rights;
}

uint64_t
landlock_scopes(int abi)
{
	return abi >= 6 ? LL_SCOPE_ABSTRACT_UNIX | LL_SCOPE_SIGNAL : 0;
}

size_t
landlock_attr_size(int abi)
{
	if (abi >= 6)
		return sizeof(struct landlock_attr);
	return abi >= 4 ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
}

struct landlock_attr
landlock_job(int abi, enum network network)
{
	return (struct landlock_attr){
		.handled_fs = landlock_fs_rights(abi),
		.handled_net = network == NETWORK_LOOPBACK ? 0 : landlock_net_rights(abi),
		.scoped = landlock_scopes(abi),
	};
}

unsigned
landlock_floor(enum profile profile, enum network network)
{
	unsigned floor = profile_row(profile)->landlock_floor;

	return network == NETWORK_TCP_PORTS && floor < FLOOR_TCP_PORTS ? FLOOR_TCP_PORTS : floor;
}
