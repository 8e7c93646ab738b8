#ifndef TRIO_H
#define TRIO_H

/* The three daemons as processes: watched to their end, never signalled. */
#include <stdbool.h>
#include <stddef.h>

struct json;

struct trio {
	int fds[3]; /* pidfds */
	size_t count;
};

/* From server.status; a daemon that is gone already is left out. */
void trio_watch(struct trio *trio, const struct json *status);

/* Wait for the end of all; false when the time is over.  Closes the descriptors. */
bool trio_await_end(struct trio *trio, int timeout_ms);

#endif
