#ifndef ONCE_H
#define ONCE_H

/* One run of a daemon's program for one answer: under its uid, with a deadline, its output kept. */
#include "launch.h"

#define ONCE_OUT_BYTES (512u << 10) /* bounds: 64 roots of 4 KiB and their flags */
#define ONCE_ERR_BYTES 2048

struct once {
	int program_fd;
	const char *const *argv;
	struct identity identity;
	int stdin_fd;            /* becomes standard input */
	const int *fds;          /* become 3, 4, ... */
	unsigned fd_count;
	int deadline_ms;

	char out[ONCE_OUT_BYTES];
	size_t out_length;
	char error[ONCE_ERR_BYTES]; /* its standard error's last line, without the log's prefix */
	int status;                 /* as of waitpid() */
};

/* Runs it; a deadline that passes or output that is too long ends the start (refuse_start). */
void once_run(struct once *once);

#endif
