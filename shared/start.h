#ifndef START_H
#define START_H

/* Finds the other programs, starts the trio when it is not there, and connects. */
#include <stdbool.h>
#include <stddef.h>

#include "place.h"
#include "talk.h"

/*
 * Path of another program of ours: beside this one, else in the libexec folder of the build.
 * false with errno when it is in neither.
 */
bool start_program(const char *name, char *path, size_t size);

/*
 * First thing in a program that talks on its standard descriptors: a closed 0, 1 or 2 must not
 * become the number of a socket.  1 is then opened for reading, so that writing to a standard
 * output that was never there fails.  false when that cannot be.
 */
bool start_standard(void);

/*
 * fork and exec argv[0] with default signals; input and output become 0 and 1 (-1: /dev/null),
 * standard error too when error >= 0.  The pid, or -1 with errno.
 */
int start_child(char *const argv[], int input, int output, int error);

/* Run agent-safe-launch for this place and wait for it.  false with *fault. */
bool start_trio(const struct place_wish *wish, struct talk_fault *fault);

enum start_socket {
	START_PROPOSE,      /* propose.sock only */
	START_EITHER,       /* control.sock where we may open it, else propose.sock */
	START_CONTROL,      /* control.sock; not_permitted where we may not */
};

/*
 * A connected socket, or -1 with *fault.  may_start: run start_trio() when nobody listens
 * (never in system mode: there the service manager does it).
 */
int start_connect(const struct place_wish *wish, struct place *place, enum start_socket which,
    bool may_start, struct talk_fault *fault);

#endif
