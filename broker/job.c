/* The states of a job and the only legal steps between them. */
#include <stddef.h>
#include <string.h>

#include "job.h"

#define IN(state) (1u << (state))
#define WAITING (IN(JOB_QUEUED) | IN(JOB_RETRY_WAIT))
#define UNDECIDED (IN(APPROVAL_PENDING) | IN(APPROVAL_EXPIRED))
#define ANY_APPROVAL (~0u)

/* Where a step may begin and where it leads; 0: stays as it is. */
static const struct {
	unsigned from_status, from_approval;
	int64_t status, approval;
} steps[STEP_COUNT] = {
	[STEP_APPROVE] = { WAITING, UNDECIDED, 0, APPROVAL_APPROVED },
	[STEP_DENY] = { WAITING, UNDECIDED, JOB_CANCELLED, APPROVAL_DENIED },
	/* Automatic retries are inside the approval: a job in retry_wait does not expire. */
	[STEP_EXPIRE] = { IN(JOB_QUEUED), IN(APPROVAL_APPROVED), 0, APPROVAL_EXPIRED },
	[STEP_STALE] = { WAITING, IN(APPROVAL_APPROVED), JOB_QUEUED, APPROVAL_PENDING },
	[STEP_DISPATCH] = { WAITING, IN(APPROVAL_APPROVED), JOB_RUNNING, 0 },
	[STEP_SUCCEED] = { IN(JOB_RUNNING), ANY_APPROVAL, JOB_SUCCEEDED, 0 },
	[STEP_FAIL] = { IN(JOB_RUNNING), ANY_APPROVAL, JOB_FAILED, 0 },
	[STEP_AWAIT_RETRY] = { IN(JOB_RUNNING), IN(APPROVAL_APPROVED), JOB_RETRY_WAIT, 0 },
	[STEP_RETURN] = { IN(JOB_RUNNING), IN(APPROVAL_APPROVED), JOB_QUEUED, 0 },
	[STEP_LOSE] = { IN(JOB_RUNNING), ANY_APPROVAL, JOB_LOST, 0 },
	[STEP_END_CANCELLED] = { IN(JOB_RUNNING), ANY_APPROVAL, JOB_CANCELLED, 0 },
	[STEP_CANCEL] = { WAITING, ANY_APPROVAL, JOB_CANCELLED, 0 },
	[STEP_ABANDON] = { WAITING, ANY_APPROVAL, JOB_DEAD_LETTER, 0 },
	[STEP_BURY] = { WAITING, IN(APPROVAL_APPROVED), JOB_DEAD_LETTER, 0 },
	[STEP_RETRY] = { IN(JOB_FAILED) | IN(JOB_CANCELLED) | IN(JOB_DEAD_LETTER) | IN(JOB_LOST),
	    ANY_APPROVAL, JOB_QUEUED, APPROVAL_PENDING },
};

bool
job_may(enum job_step step, int64_t status, int64_t approval)
{
	if (status <= 0 || status >= JOB_STATUS_COUNT || approval <= 0 ||
	    approval >= APPROVAL_COUNT)
		return false;
	return (steps[step].from_status & IN(status)) && (steps[step].from_approval & IN(approval));
}

bool
job_take(enum job_step step, int64_t *status, int64_t *approval)
{
	if (!job_may(step, *status, *approval))
		return false;
	if (steps[step].status)
		*status = steps[step].status;
	if (steps[step].approval)
		*approval = steps[step].approval;
	return true;
}

bool
job_is_waiting(int64_t status)
{
	return status == JOB_QUEUED || status == JOB_RETRY_WAIT;
}

bool
job_is_finished(int64_t status)
{
	return !job_is_waiting(status) && status != JOB_RUNNING;
}

static const char *const status_names[JOB_STATUS_COUNT] = {
	[JOB_QUEUED] = "queued", [JOB_RUNNING] = "running", [JOB_RETRY_WAIT] = "retry_wait",
	[JOB_SUCCEEDED] = "succeeded", [JOB_FAILED] = "failed", [JOB_CANCELLED] = "cancelled",
	[JOB_DEAD_LETTER] = "dead_letter", [JOB_LOST] = "lost",
};

static const char *const approval_names[APPROVAL_COUNT] = {
	[APPROVAL_PENDING] = "pending", [APPROVAL_APPROVED] = "approved",
	[APPROVAL_DENIED] = "denied", [APPROVAL_EXPIRED] = "expired", [APPROVAL_LEGACY] = "legacy",
};

const char *
job_status_name(int64_t status)
{
	return status > 0 && status < JOB_STATUS_COUNT ? status_names[status] : "unknown";
}

const char *
job_approval_name(int64_t approval)
{
	return approval > 0 && approval < APPROVAL_COUNT ? approval_names[approval] : "unknown";
}

/* The place of a name in a list that begins at 1; 0 when it is not there. */
static int64_t
place_of(const char *name, const char *const *names, int64_t count)
{
	for (int64_t at = 1; at < count; at++)
		if (strcmp(name, names[at]) == 0)
			return at;
	return 0;
}

int64_t
job_status_of(const char *name)
{
	return place_of(name, status_names, JOB_STATUS_COUNT);
}

int64_t
job_approval_of(const char *name)
{
	return place_of(name, approval_names, APPROVAL_COUNT);
}

#define BACKOFF_FIRST_US 2000000ull
#define BACKOFF_MOST_US 300000000ull

bool
job_is_due(int64_t status, int64_t created_us, int64_t available_us, int64_t now_us)
{
	return available_us <= now_us || available_us == created_us ||
	    (status == JOB_RETRY_WAIT && available_us - now_us > (int64_t)BACKOFF_MOST_US);
}

uint64_t
job_backoff_us(int64_t attempts, uint32_t random)
{
	uint64_t wait = BACKOFF_FIRST_US;

	for (int64_t i = 1; i < attempts && wait < BACKOFF_MOST_US; i++)
		wait *= 2;
	if (wait > BACKOFF_MOST_US)
		wait = BACKOFF_MOST_US;
	return wait - wait / 10 * random / UINT32_MAX;
}
