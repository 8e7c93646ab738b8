#ifndef FILTER_H
#define FILTER_H

/*
 * System call filters.  All that the policy's bounds can ask for are built once, at start, and
 * kept as bytes; after the fork a filter costs one system call and no memory.
 *
 *   ours   the executor's own, inherited by everything below: only what no profile ever allows
 *   init   pid 1 of a job: wait, kill, one socket; anything else ends it
 *   job    two programs: arguments (default: allow), then numbers (filter.def)
 *
 * filter.c and filter_sockets.c build, and are the only files with seccomp.h; filter_load.c keeps
 * and loads.
 */
#include <stdbool.h>
#include <stdint.h>

#include "profile.h"

/*
 * Build all for profiles within the floor and networks up to the farthest.  shared_uid: the job
 * runs under init's uid, prlimit64() on others is refused.  What was built before stays.  Ends the
 * process on failure.
 */
void filter_open(bool shared_uid, enum profile floor, enum network farthest);

/*
 * Load one: 0, or -1 with errno, also when the kernel does not say that it holds, or when it was
 * not built (EINVAL).  Async-signal-safe.
 */
int filter_load_own(void);
int filter_load_init(void);
int filter_load_job(enum profile profile, enum network network);

/* SHA-256 over a job's programs as they are loaded, in that order; NULL: they were not built. */
const uint8_t *filter_digest(enum profile profile, enum network network);

#endif
