#ifndef ERRAND_H
#define ERRAND_H

/*
 * A short-lived child that looks at files which may lie on filesystems that never answer, so that
 * the executor's loop never waits for one.  It hands its findings over in shared memory, dies
 * with its deadline or with us, and holds none of the trio's channels.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loop.h"

struct errand {
	struct source source; /* its end shows here */
	int pidfd;            /* -1: not out */
	uint64_t deadline_us; /* 0: none, or it has been killed */
	void *shared;         /* what it finds; the first `zeroed` bytes are that at start */
	size_t zeroed;
	bool *finished;       /* in shared memory: the child came to its end */
};

/*
 * Space for the findings of `count` errands of at most `size` bytes.  One mapping for all, for each process
 * that is made copies the list of mappings.  False without memory.
 */
bool errand_reserve(size_t size, unsigned count);

/* One errand's part of it; false when there is none left. */
bool errand_open(struct errand *errand, size_t size, size_t zeroed);

/*
 * Start: the child runs work(context) and ends; ready(source) is called in the parent at its
 * end, after which errand_finish() must be called.  -1 with errno.
 */
int errand_start(struct loop *loop, struct errand *errand, void (*work)(struct errand *errand),
    void *context, void (*ready)(struct source *source, uint32_t events), uint64_t milliseconds);

/* Is it out? */
bool errand_is_out(const struct errand *errand);

/* Kill it when its time is over (its end then shows as usual). */
void errand_expire(struct errand *errand, uint64_t now_us);

/* Take it out of the loop; true when it came to its end and shared holds what it found. */
bool errand_finish(struct loop *loop, struct errand *errand);

#endif
