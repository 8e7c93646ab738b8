/*
 * The auditor is gone: what the job does then is the policy's word (enum audit_loss of plan.h).
 *
 * A descriptor that only the auditor holds open at its other end shows it.  A frozen job's time
 * stands still.  The next executor hands over the next auditor's descriptor, and the job goes on.
 */
#include <sys/epoll.h>

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "cgroup.h"
#include "keep.h"
#include "keeper.h"
#include "log.h"
#include "plan.h"

#define LATER_MS 10000 /* a new start of the trio takes less than a second */

/* cgroup.freeze where there is one, else a stop signal to all that init can reach. */
static void
set_frozen(struct keeper *keeper, bool frozen)
{
	struct message message = { .type = MSG_INIT_SIGNAL };

	if (cgroup_has(KEEPER_CGROUP_FREEZE_FD)) {
		if (pwrite(KEEPER_CGROUP_FREEZE_FD, frozen ? "1" : "0", 1, 0) != 1)
			log_errno("cgroup.freeze");
	} else {
		message.body.init_signal.signal = frozen ? SIGSTOP : SIGCONT;
		if (keeper->init.fd >= 0 && channel_send(&keeper->init, &message) < 0)
			log_errno("tell init to stop the job");
	}
	keeper->frozen = frozen;
}

static void
freeze(struct keeper *keeper)
{
	if (keeper->phase != PHASE_RUNNING || keeper->frozen)
		return;
	log_warn("no auditor: the job is frozen");
	set_frozen(keeper, true);
	keeper->left_us = 0;
	output_touch(keeper);
	if (keeper->deadline_us != 0) {
		uint64_t now_us = clock_monotonic_us();

		keeper->left_us = keeper->deadline_us > now_us ? keeper->deadline_us - now_us : 1;
		keeper->deadline_us = 0;
	}
}

void
loss_thaw(struct keeper *keeper)
{
	keeper->loss_us = 0;
	if (!keeper->frozen)
		return;
	set_frozen(keeper, false);
	output_touch(keeper);
	if (keeper->left_us != 0 && keeper->phase == PHASE_RUNNING)
		keeper->deadline_us = clock_monotonic_us() + keeper->left_us;
}

void
loss_on_deadline(struct keeper *keeper)
{
	keeper->loss_us = 0;
	freeze(keeper);
}

static void
unwatch(struct keeper *keeper)
{
	if (keeper->auditor.fd < 0)
		return;
	loop_remove(&keeper->loop, &keeper->auditor);
	close(keeper->auditor.fd);
	keeper->auditor.fd = -1;
}

/* Nothing is ever written to it: whatever comes is its end. */
static void
on_loss(struct source *source, uint32_t events)
{
	struct keeper *keeper = source->context;

	(void)events;
	unwatch(keeper);
	switch (keeper->orders.audit_loss) {
	case AUDIT_LOSS_LATER:
		keeper->loss_us = clock_monotonic_us() + LATER_MS * 1000ull;
		break;
	case AUDIT_LOSS_FREEZE:
		freeze(keeper);
		break;
	case AUDIT_LOSS_KILL:
		log_warn("no auditor: the job is ended");
		stop_job(keeper, CAUSE_CANCEL);
		break;
	default:
		break; /* continue */
	}
}

void
loss_watch(struct keeper *keeper, int fd)
{
	unwatch(keeper);
	keeper->auditor = (struct source){ fd, on_loss, keeper };
	if (loop_add(&keeper->loop, &keeper->auditor, EPOLLIN) < 0) {
		log_errno("watch the auditor");
		close(fd);
		keeper->auditor.fd = -1;
		return;
	}
	loss_thaw(keeper);
}
