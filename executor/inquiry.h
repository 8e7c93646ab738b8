#ifndef INQUIRY_H
#define INQUIRY_H

/*
 * PROGRAM_ASSESS: what would run, were this command approved?  Each question is answered by a
 * child of its own (errand.c), a few at once, unless a look at local places will do; everything
 * that goes wrong but the working directory is one answer, ASSESS_UNAVAILABLE.
 */
#include <stdbool.h>

#include "errand.h"
#include "limits.h"
#include "program.h"

#define INQUIRY_COUNT 8        /* at once; the rest hear ASSESS_BUSY */
#define INQUIRY_RULES 4096     /* rule programs in one question */

struct executor;

struct inquiry {
	struct errand errand;
	struct executor *executor;
	uint64_t number;   /* the broker's */
	int question;      /* the sealed memfd, ours */
	int answer;        /* memfd that the child writes */
};

/* What was found besides the answer's bytes, by a child in shared memory. */
struct inquiry_findings {
	uint32_t status; /* enum assess_status */
	bool local;      /* root, by its number, and "/" lie on local filesystems (local.h) */
	int root;
	struct program_found program;
};

/* question_fd: ours from here on. */
void inquiry_start(struct executor *executor, uint64_t number, int question_fd);

#endif
