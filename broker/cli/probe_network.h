#ifndef PROBE_NETWORK_H
#define PROBE_NETWORK_H

/* Which networks this kernel can give a cage; none always can. */
#include "probe.h"

void probe_network_loopback(struct probe *probe);
void probe_network_ports(struct probe *probe);

#endif
