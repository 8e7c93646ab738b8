/* Resource limits. */
#include <sys/resource.h>
#include <sys/syscall.h>

#include <errno.h>
#include <unistd.h>

#include "rlimits.h"

#define LOCKED_BYTES (64u << 10)
#define CPU_GRACE_SECONDS 5 /* XCPU first, KILL after */

/* Lower only: what is below already stays. */
static int
lower(int resource, uint64_t soft, uint64_t hard)
{
	struct rlimit now, wanted, after;

	if (syscall(SYS_prlimit64, 0, resource, NULL, &now) < 0)
		return -1;
	wanted.rlim_max = hard < now.rlim_max ? hard : now.rlim_max;
	wanted.rlim_cur = soft < wanted.rlim_max ? soft : wanted.rlim_max;
	if (syscall(SYS_prlimit64, 0, resource, &wanted, NULL) < 0 ||
	    syscall(SYS_prlimit64, 0, resource, NULL, &after) < 0)
		return -1;
	if (after.rlim_cur == wanted.rlim_cur && after.rlim_max == wanted.rlim_max)
		return 0;
	errno = EPERM;
	return -1;
}

/* 0 in the plan: no limit of ours. */
static int
lower_unless_zero(int resource, uint64_t soft, uint64_t hard)
{
	return soft ? lower(resource, soft, hard) : 0;
}

int
rlimits_apply(const struct plan *plan)
{
	if (lower(RLIMIT_CORE, 0, 0) < 0 || lower(RLIMIT_MSGQUEUE, 0, 0) < 0 ||
	    lower(RLIMIT_RTPRIO, 0, 0) < 0 ||
	    lower(RLIMIT_NICE, 0, 0) < 0 || lower(RLIMIT_MEMLOCK, LOCKED_BYTES, LOCKED_BYTES) < 0)
		return -1;
	if (lower(RLIMIT_NOFILE, plan->open_files, plan->open_files) < 0 ||
	    lower(RLIMIT_NPROC, plan->processes, plan->processes) < 0)
		return -1;
	if (lower_unless_zero(RLIMIT_FSIZE, plan->file_bytes, plan->file_bytes) < 0)
		return -1;
	return lower_unless_zero(RLIMIT_CPU, plan->cpu_seconds,
	    plan->cpu_seconds + CPU_GRACE_SECONDS);
}
