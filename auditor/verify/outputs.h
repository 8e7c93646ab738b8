#ifndef OUTPUTS_H
#define OUTPUTS_H

/* What was kept of the jobs' output, beside the digests that the log has of it. */
#include <stdint.h>

struct dispatch;
struct verify;

struct outputs {
	int runs_fd;       /* the folder that holds <slot>/<job>.<attempt>/{out,err} */
	const struct dispatch *dispatch; /* what the log has said of each run so far */
	uint64_t compared; /* files that are as the log says */
	uint64_t absent;   /* not kept any more */
};

/* Before the first segment is read.  A file that differs is a fault of its record's line. */
void outputs_begin(struct outputs *outputs, struct verify *verify);

#endif
