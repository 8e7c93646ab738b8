#ifndef FILTER_H
#define FILTER_H

/*
 * System call filters: the only file that includes seccomp.h.  All are built once, at start, and
 * kept as bytes; after the fork a filter costs one system call and no memory.
 *
 *   ours   the executor's own, inherited by everything below: only what no profile ever allows
 *   init   pid 1 of a job: wait, kill, one socket; anything else ends it
 *   job    two programs: arguments (default: allow), then numbers (default: ENOSYS)
 */
#include <stdbool.h>
#include <stdint.h>

/*
 * Build all.  shared_uid: the job runs under init's uid, prlimit64() on others is refused.  Ends
 * the process on failure.
 */
void filter_open(bool shared_uid);

/*
 * Load one: 0, or -1 with errno, also when the kernel does not say that it holds.  Async-signal-
 * safe.
 */
int filter_load_own(void);
int filter_load_init(void);
int filter_load_job(void);

/* SHA-256 over the job's programs as they are loaded, in that order. */
const uint8_t *filter_digest(void);

#endif
