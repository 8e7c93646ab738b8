#ifndef PROBE_NAMESPACES_H
#define PROBE_NAMESPACES_H

/* The namespaces of a cage besides the user's: each running job has one of every kind. */
#include "user_namespace.h"

#include "probe.h"

/* user: an ordinary account can make the others only inside one of those. */
void probe_other_namespaces(struct probe *probe, enum user_namespace user);

#endif
