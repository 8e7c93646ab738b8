/* Init: what it says, and its death. */
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "keep.h"
#include "keeper.h"
#include "log.h"

#define EXIT_MS 1000     /* init has nothing left to do; the kernel ends 800 processes in 30 ms */
#define VANISHED_MS 200  /* its socket closed: is it dying, or has it lost its mind? */

void
on_init_hang_up(struct keeper *keeper)
{
	if (keeper->init.fd < 0)
		return;
	loop_remove(&keeper->loop, &keeper->init_source);
	close(keeper->init.fd);
	keeper->init.fd = -1;
}

/*
 * What init says is worth nothing any more: nobody will know how the job ended.  The socket is
 * closed first: init ends when it sees that, should it be out of reach for a signal.
 */
static void
give_up(struct keeper *keeper, const char *why)
{
	log_error("init: %s", why);
	keeper->facts.reported = false;
	on_init_hang_up(keeper);
	stop_kill(keeper);
	keeper_enter(keeper, PHASE_ENDING, 0);
}

/* From here on it has our uid.  A keeper that cannot kill its job must not keep it. */
static bool
can_be_killed(void)
{
	return syscall(SYS_pidfd_send_signal, KEEPER_INIT_PIDFD, 0, NULL, 0) == 0 || errno == ESRCH;
}

void
keeper_on_init_filtered(struct keeper *keeper, const struct msg_init_filtered *message)
{
	(void)message;
	if (keeper->phase == PHASE_STARTING && denied_watch(keeper, keeper->handed))
		return;
	close(keeper->handed);
	give_up(keeper, "a listener that was not asked for");
}

void
keeper_on_init_started(struct keeper *keeper, const struct msg_init_started *message)
{
	if (keeper->phase != PHASE_STARTING) {
		give_up(keeper, "started twice");
		return;
	}
	if (!denied_is_watched(keeper)) {
		give_up(keeper, "started without the listener of its filter");
		return;
	}
	if (!can_be_killed()) {
		give_up(keeper, "cannot be signalled");
		return;
	}
	keeper->facts.begun = true;
	keeper->begun_us = clock_monotonic_us();
	keeper->end.started_us = clock_realtime_us();
	keeper->end.layers = message->layers;
	/* A job that is being stopped already keeps that deadline. */
	if (keeper->facts.cause == CAUSE_NONE)
		keeper_enter(keeper, PHASE_RUNNING, keeper->orders.timeout_ms);
	else
		keeper->phase = PHASE_RUNNING;
	output_touch(keeper);
	on_executor_tell_begun(keeper);
}

void
keeper_on_init_failed(struct keeper *keeper, const struct msg_init_failed *message)
{
	if (keeper->phase != PHASE_STARTING || message->stage == STAGE_NONE || message->stage >= STAGE_COUNT) {
		give_up(keeper, "failed at a stage that is none");
		return;
	}
	keeper->facts.refused = true;
	keeper->facts.stage = message->stage;
	keeper->facts.error = message->error;
	keeper_enter(keeper, PHASE_ENDING, EXIT_MS);
}

void
keeper_on_init_ended(struct keeper *keeper, const struct msg_init_ended *message)
{
	if (keeper->phase != PHASE_RUNNING) {
		give_up(keeper, "ended what did not run");
		return;
	}
	keeper->facts.reported = true;
	keeper->facts.main_status = message->status;
	keeper->facts.leftovers = message->leftovers;
	keeper->facts.cpu_us = message->user_us + message->system_us;
	keeper->facts.cpu_limit_us = keeper->orders.cpu_seconds * 1000000;
	keeper->facts.file_limit = keeper->orders.file_bytes > 0;
	keeper->end.user_us = message->user_us;
	keeper->end.system_us = message->system_us;
	keeper->end.max_rss_kb = message->max_rss_kb;
	keeper->end.duration_us = clock_monotonic_us() - keeper->begun_us;
	keeper->end.ended_us = clock_realtime_us();
	keeper_enter(keeper, PHASE_ENDING, EXIT_MS);
}

/* One message of init; false when there is none. */
static bool
hear_init(struct keeper *keeper)
{
	struct message message;
	const char *why = NULL;

	if (keeper->init.fd < 0)
		return false;
	switch (channel_take(&keeper->init, &message, &why)) {
	case CHANNEL_MESSAGE:
		keeper_hear(keeper, &message);
		return true;
	case CHANNEL_BREACH:
		give_up(keeper, why);
		return false;
	case CHANNEL_CLOSED:
		on_init_hang_up(keeper);
		if (keeper->phase < PHASE_ENDING)
			keeper_enter(keeper, PHASE_ENDING, VANISHED_MS);
		return false;
	case CHANNEL_EMPTY:
		return false;
	}
	return false;
}

static void
on_message(struct source *source, uint32_t events)
{
	(void)events;
	hear_init(source->context);
}

static uint64_t
microseconds(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_usec;
}

/* Usage of init holds that of all that died with it, so also of what outlived the main process. */
static void
reap(struct keeper *keeper)
{
	struct rusage usage = { 0 };
	int status = 0;

	if (wait4(keeper->orders.init_pid, &status, 0, &usage) < 0) {
		log_errno("wait for init");
		return;
	}
	keeper->facts.init_reaped = true;
	keeper->facts.init_status = status;
	keeper->end.user_us = microseconds(usage.ru_utime);
	keeper->end.system_us = microseconds(usage.ru_stime);
	/* Init's own size is no job's: its word about the main process is better. */
	if (!keeper->facts.reported)
		keeper->end.max_rss_kb = (uint64_t)usage.ru_maxrss;
}

/* Its last words may still be in the socket: they come first. */
static void
on_death(struct source *source, uint32_t events)
{
	struct keeper *keeper = source->context;

	(void)events;
	while (hear_init(keeper))
		;
	loop_remove(&keeper->loop, source);
	on_init_hang_up(keeper);
	reap(keeper);
	finish_begin(keeper);
}

/* Only a parent learns how a process ended. */
static void
check_kinship(const struct keeper *keeper)
{
	siginfo_t info;

	if (waitid(P_PID, (id_t)keeper->orders.init_pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
		fatal("init %d is no child of ours: %s", keeper->orders.init_pid, strerror(errno));
}

void
on_init_begin(const struct keeper *keeper)
{
	struct message message = { .type = MSG_INIT_BEGIN };

	if (channel_send(&keeper->init, &message) < 0)
		log_errno("send INIT_BEGIN"); /* it has ended: its socket says so */
}

void
on_init_watch(struct keeper *keeper)
{
	check_kinship(keeper);
	keeper->init = (struct channel){ KEEPER_INIT_FD, PROCESS_KEEPER, PROCESS_INIT };
	keeper->init_source = (struct source){ KEEPER_INIT_FD, on_message, keeper };
	keeper->init_death = (struct source){ KEEPER_INIT_PIDFD, on_death, keeper };
	if (loop_add(&keeper->loop, &keeper->init_source, EPOLLIN) < 0 ||
	    loop_add(&keeper->loop, &keeper->init_death, EPOLLIN) < 0)
		fatal("watch init: %s", strerror(errno));
}
