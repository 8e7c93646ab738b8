#ifndef BECOME_H
#define BECOME_H

/* In a child of launch, from fork to exec: another uid, descriptors in their places, another program. */
#include "launch.h"

/* Where become_fail() reports: a close-on-exec pipe.  End of file there means that exec has happened. */
void become_report_to(int fd);

/* Report "what: strerror(errno)" and end.  A child must never call refuse_start(): it would undo. */
_Noreturn void become_fail(const char *what);

/* Another uid without groups, capabilities and bounding set, when root started us; no_new_privs always. */
void become_somebody(struct identity identity);

struct become {
	int program_fd;
	const char *const *argv; /* ends with NULL */
	int standard[3];         /* standard input, output and error */
	const int *fds;          /* 3, 4, ... */
	unsigned fd_count;
};

/* In a session of its own, with default signals, an empty environment and nothing else open. */
_Noreturn void become_program(const struct become *become);

#endif
