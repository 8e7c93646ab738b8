#ifndef REACH_H
#define REACH_H

/* The other programs of ours, the trio when it is not there, and a connection to it. */
#include <stdbool.h>
#include <stddef.h>

#include "place.h"
#include "talk.h"

/*
 * Path of another program of ours: beside this one, else in the libexec folder of the build.
 * false with errno when it is in neither.
 */
bool reach_program(const char *name, char *path, size_t size);

/*
 * First thing in a program that talks on its standard descriptors: a closed 0, 1 or 2 must not
 * become the number of a socket.  1 is then opened for reading, so that writing to a standard
 * output that was never there fails.  false when that cannot be.
 */
bool reach_standard(void);

/*
 * fork and exec argv[0] with default signals; input and output become 0 and 1 (-1: /dev/null),
 * standard error too when error >= 0.  The pid, or -1 with errno.
 */
int reach_child(char *const argv[], int input, int output, int error);

/* Run agent-safe-launch for this place and wait for it.  false with *fault. */
bool reach_trio(const struct place_wish *wish, struct talk_fault *fault);

enum reach_socket {
	REACH_PROPOSE,      /* propose.sock only */
	REACH_EITHER,       /* control.sock where we may open it, else propose.sock */
	REACH_CONTROL,      /* control.sock; not_permitted where we may not */
};

/*
 * A connected socket, or -1 with *fault.  may_start: run reach_trio() when nobody listens
 * (never in system mode: there the service manager does it).
 */
int reach_connect(const struct place_wish *wish, struct place *place, enum reach_socket which,
    bool may_start, struct talk_fault *fault);

#endif
