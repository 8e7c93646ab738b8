#ifndef FENCE_PROBE_H
#define FENCE_PROBE_H

/*
 * Landlock cannot be asked whether it holds, so try, part by part, what must be refused from then
 * on.  Async-signal-safe.
 */
#include <sys/socket.h>
#include <sys/un.h>

#include "landlock.h"

struct fence_probe {
	struct landlock_attr wanted;
	int socket;                 /* abstract, made outside of the domain; -1: not wanted */
	struct sockaddr_un address; /* its name, which the kernel has chosen */
	socklen_t length;
};

/* Before: what is tried later must work now.  0, or -1 with errno. */
int fence_probe_open(struct fence_probe *probe, const struct landlock_attr *wanted);

/* After: it is refused.  0, or -1 with EPERM.  Closes. */
int fence_probe_close(struct fence_probe *probe);

#endif
