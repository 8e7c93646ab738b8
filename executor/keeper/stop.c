/*
 * Ending a job: TERM, grace, KILL; and the deadline of each phase.
 *
 *   starting  SETUP_MS, then KILL: a cage that is not finished by then never will be
 *   running   the job's timeout, then TERM; the grace, then KILL
 *   ending    EXIT_MS for init to go by itself, then KILL; after KILL there is no deadline, for
 *             the end may only be told when the processes are gone
 *   emptying  EMPTY_MS, then KILL once more and on
 *   telling   one more try
 *
 * KILL is cgroup.kill where there is one, and always init through its pidfd: when pid 1 of a
 * namespace dies the kernel ends all in it, also what is stopped or frozen.
 */
#include <sys/syscall.h>

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "cgroup.h"
#include "keep.h"
#include "keeper.h"
#include "log.h"

static void
set_deadline(struct keeper *keeper, uint64_t limit_ms)
{
	keeper->deadline_us = clock_monotonic_us() + limit_ms * 1000;
}

static void
send_term(struct keeper *keeper)
{
	struct message message = { .type = MSG_INIT_SIGNAL };

	message.body.init_signal.signal = SIGTERM;
	if (channel_send(&keeper->init, &message) < 0)
		log_errno("send TERM to init"); /* KILL follows */
}

void
stop_job(struct keeper *keeper, enum cause cause)
{
	if (keeper->facts.cause != CAUSE_NONE || keeper->phase > PHASE_RUNNING)
		return;
	keeper->facts.cause = cause;
	loss_thaw(keeper); /* what is frozen hears no TERM */
	send_term(keeper);
	set_deadline(keeper, keeper->orders.grace_ms);
}

void
stop_kill(struct keeper *keeper)
{
	if (!keeper->facts.reported)
		keeper->facts.killed = true;
	cgroup_kill(KEEPER_CGROUP_KILL_FD);
	/* ESRCH: it is gone already. */
	if (syscall(SYS_pidfd_send_signal, KEEPER_INIT_PIDFD, SIGKILL, NULL, 0) == 0 || errno == ESRCH)
		return;
	log_errno("kill init");
	on_init_hang_up(keeper);
}

void
stop_on_deadline(struct keeper *keeper)
{
	keeper->deadline_us = 0;
	switch (keeper->phase) {
	case PHASE_STARTING:
		if (keeper->facts.cause == CAUSE_NONE)
			keeper->facts.cause = CAUSE_SETUP;
		stop_kill(keeper);
		break;
	case PHASE_RUNNING:
		if (keeper->facts.cause == CAUSE_NONE)
			stop_job(keeper, CAUSE_DEADLINE);
		else
			stop_kill(keeper);
		break;
	case PHASE_ENDING:
		stop_kill(keeper);
		break;
	case PHASE_EMPTYING:
		log_warn("the job's cgroup is still populated");
		stop_kill(keeper);
		finish_end(keeper);
		break;
	case PHASE_TELLING:
		finish_tell(keeper);
		break;
	case PHASE_DONE:
		break;
	}
}
