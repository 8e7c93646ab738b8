#ifndef NETWORK_H
#define NETWORK_H

/*
 * A job's network namespace, from inside, by init: raise its own loopback where the plan says so,
 * and see that nothing else is up.  Async-signal-safe.
 */
#include "profile.h"

/*
 * For NETWORK_NONE and NETWORK_LOOPBACK, in a namespace that was just made; NET_ADMIN there for the
 * second.  NETWORK_TCP_PORTS has none of its own: nothing is done.  0, or -1 with errno (EBUSY:
 * something else is up, ENETDOWN: loopback is not).
 */
int network_settle(enum network network);

#endif
