#ifndef JOB_H
#define JOB_H

/* The states of a job and the only legal steps between them.  Pure. */
#include <stdbool.h>
#include <stdint.h>

/* The numbers are stored: never change one. */
enum job_status {
	JOB_QUEUED = 1,
	JOB_RUNNING,
	JOB_RETRY_WAIT,
	JOB_SUCCEEDED,
	JOB_FAILED,
	JOB_CANCELLED,
	JOB_DEAD_LETTER,
	JOB_LOST, /* nobody knows how it ended; never run again by itself */
	JOB_STATUS_COUNT
};

enum job_approval {
	APPROVAL_PENDING = 1,
	APPROVAL_APPROVED,
	APPROVAL_DENIED,
	APPROVAL_EXPIRED,
	APPROVAL_LEGACY, /* imported history */
	APPROVAL_COUNT
};

enum job_step {
	STEP_APPROVE,
	STEP_DENY,
	STEP_EXPIRE,      /* the approval's time is over */
	STEP_STALE,       /* what was approved is no longer what would run */
	STEP_DISPATCH,
	STEP_SUCCEED,
	STEP_FAIL,
	STEP_AWAIT_RETRY,
	STEP_RETURN,        /* it was never begun: as if it had not been dispatched */
	STEP_LOSE,
	STEP_END_CANCELLED, /* a running job, ended on request */
	STEP_CANCEL,        /* a waiting job */
	STEP_ABANDON,       /* what it waited for can never be */
	STEP_BURY,          /* the policy says no to an approved job */
	STEP_RETRY,         /* by hand: everything is decided anew */
	STEP_COUNT
};

/* May this step be taken from there? */
bool job_may(enum job_step step, int64_t status, int64_t approval);

/* Take it, or false and nothing changed. */
bool job_take(enum job_step step, int64_t *status, int64_t *approval);

bool job_is_waiting(int64_t status);  /* queued or retry_wait */
bool job_is_finished(int64_t status); /* neither waiting nor running */

/* Names as they stand in JSON; never NULL.  The reverse gives 0 for a foreign name. */
const char *job_status_name(int64_t status);
const char *job_approval_name(int64_t approval);
int64_t job_status_of(const char *name);
int64_t job_approval_of(const char *name);

/*
 * Is it time?  A clock that was set back holds up nothing but a delay that was asked for: without
 * one a job is available when it was made, and no retry waits longer than the longest backoff.
 * The same stands in statements.def.
 */
bool job_is_due(int64_t status, int64_t created_us, int64_t available_us, int64_t now_us);

/*
 * How long until the next automatic try, after `attempts` tries: 2 s doubling up to five
 * minutes, less a random tenth (so that jobs which failed together do not all come back together).
 */
uint64_t job_backoff_us(int64_t attempts, uint32_t random);

#endif
