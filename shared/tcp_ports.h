#ifndef TCP_PORTS_H
#define TCP_PORTS_H

/* A small set of TCP ports, in rising order: where a job may connect to. */
#include <stdbool.h>
#include <stdint.h>

#include "limits.h"

struct tcp_ports {
	unsigned count;
	uint16_t list[LIMIT_TCP_PORTS];
};

/* For readers of fields: false when it is no port, not above the last one, or there is no room. */
bool tcp_ports_append(struct tcp_ports *ports, uint64_t port);

/* Wherever it belongs, once; false when it is no port or there is no room. */
bool tcp_ports_insert(struct tcp_ports *ports, uint64_t port);

bool tcp_ports_has(const struct tcp_ports *ports, uint16_t port);

/* Is each of some in all? */
bool tcp_ports_cover(const struct tcp_ports *all, const struct tcp_ports *some);

#endif
