/* A small set of TCP ports. */
#include "tcp_ports.h"

static bool
is_port(uint64_t port)
{
	return port >= 1 && port <= UINT16_MAX;
}

bool
tcp_ports_append(struct tcp_ports *ports, uint64_t port)
{
	if (!is_port(port) || ports->count == LIMIT_TCP_PORTS ||
	    (ports->count > 0 && port <= ports->list[ports->count - 1]))
		return false;
	ports->list[ports->count++] = (uint16_t)port;
	return true;
}

bool
tcp_ports_insert(struct tcp_ports *ports, uint64_t port)
{
	unsigned at = ports->count;

	if (!is_port(port))
		return false;
	if (tcp_ports_has(ports, (uint16_t)port))
		return true;
	if (ports->count == LIMIT_TCP_PORTS)
		return false;
	for (; at > 0 && ports->list[at - 1] > port; at--)
		ports->list[at] = ports->list[at - 1];
	ports->list[at] = (uint16_t)port;
	ports->count++;
	return true;
}

bool
tcp_ports_has(const struct tcp_ports *ports, uint16_t port)
{
	for (unsigned i = 0; i < ports->count; i++)
		if (ports->list[i] == port)
			return true;
	return false;
}

bool
tcp_ports_cover(const struct tcp_ports *all, const struct tcp_ports *some)
{
	for (unsigned i = 0; i < some->count; i++)
		if (!tcp_ports_has(all, some->list[i]))
			return false;
	return true;
}
