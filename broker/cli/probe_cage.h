#ifndef PROBE_CAGE_H
#define PROBE_CAGE_H

/* Which cages this kernel can give. */
#include "probe.h"

#define PROBE_CAGES 3
extern const char *const probe_cage_names[PROBE_CAGES];

/* Fills all three. */
void probe_cages(struct probe *probes);

/* Two of them by the one answer they rest on: Landlock's ABI. */
void probe_profiles(struct probe *probe, int abi);
void probe_tcp_ports(struct probe *probe, int abi);

#endif
