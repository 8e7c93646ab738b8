#ifndef ERRAND_H
#define ERRAND_H

/* One run of one command: bytes in, bounded bytes out, a deadline, and its process group's end. */
#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "boot.h"
#include "loop.h"
#include "payloads.h"

#define ERRAND_WORDS 400 /* of its standard error: for one line of our own log */

/* One of the two pipes. */
struct errand_pipe {
	struct source source; /* fd -1: closed */
	size_t length;        /* all that came; more than LIMIT_CARRIED_BYTES ends the run */
};

struct errand {
	bool busy;
	uint64_t number;
	pid_t pid;              /* leader of its process group and session */
	uint64_t deadline_us;   /* CLOCK_MONOTONIC */
	struct loop *loop;
	struct errand_pipe out, words;
	enum carried fault;     /* why we ended it; 0: we did not */
	char bytes[LIMIT_CARRIED_BYTES];
	char line[ERRAND_WORDS];
};

/*
 * Start the command with input_fd as its standard input, from its beginning.  0, or -1 with errno:
 * nothing runs.
 */
int errand_start(struct errand *errand, struct loop *loop, const struct boot_command *command, const char *home,
    int input_fd, unsigned seconds);

/* The deadline has passed: end it. */
void errand_expire(struct errand *errand);

/*
 * Its leader has ended and is not reaped yet: end its group, reap it, read what is left.  *detail as
 * in struct msg_checkpoint_carried.
 */
enum carried errand_finish(struct errand *errand, int32_t *detail);

/* End it without an answer. */
void errand_drop(struct errand *errand);

#endif
