/* The life of a keeper. */
#include <sys/file.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cgroup.h"
#include "keep.h"
#include "keeper.h"
#include "log.h"
#include "result.h"

#define SETUP_MS 30000 /* for a cage: it takes 3 ms, on a machine under load perhaps a thousand times that */

/*
 * A service manager that ends all of a unit sends these to us too: our job's end is decided by
 * its deadline and by the executor alone.  XFSZ: a write beyond a limit shall fail, not kill.
 */
static void
ignore_signals(void)
{
	static const int numbers[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGXFSZ };
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (sigaction(numbers[i], &ignore, NULL) < 0)
			fatal("sigaction: %s", strerror(errno));
}

/* Held until we end: so an executor sees whether this keeper lives. */
static int
take_lock(void)
{
	int fd = openat(KEEPER_FOLDER_FD, KEEP_BEGUN, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		fatal(KEEP_BEGUN ": %s", strerror(errno));
	return fd;
}

void
keeper_open(struct keeper *keeper)
{
	ignore_signals();
	umask(027);
	digest_open();
	if (!orders_read(&keeper->orders, KEEPER_ORDERS_FD))
		fatal("these are no orders");
	close(KEEPER_ORDERS_FD);

	keeper->lock_fd = take_lock();
	keeper->result_fd = result_reserve(KEEPER_FOLDER_FD);
	if (keeper->result_fd < 0)
		fatal("result: %s", strerror(errno));
	loop_open(&keeper->loop);
	output_open(keeper, &keeper->out, KEEPER_OUT_FD, KEEP_OUT);
	output_open(keeper, &keeper->err, KEEPER_ERR_FD, KEEP_ERR);
	keeper->cgroup_events.fd = cgroup_has(KEEPER_CGROUP_EVENTS_FD) ? KEEPER_CGROUP_EVENTS_FD : -1;
	denied_open(keeper);
	on_init_watch(keeper);
	on_executor_watch(keeper);
	keeper->auditor.fd = keeper->handed = -1;
	if (cgroup_has(KEEPER_AUDITOR_FD)) /* else it holds /dev/null: there never was one */
		loss_watch(keeper, KEEPER_AUDITOR_FD);
	keeper_enter(keeper, PHASE_STARTING, SETUP_MS);
}

bool
keeper_is_needed(const struct keeper *keeper)
{
	return keeper->phase != PHASE_DONE;
}

void
keeper_enter(struct keeper *keeper, enum phase phase, uint64_t limit_ms)
{
	keeper->phase = phase;
	keeper->deadline_us = limit_ms == 0 ? 0 : clock_monotonic_us() + limit_ms * 1000;
}

void
keeper_serve(struct keeper *keeper)
{
	uint64_t first = keeper->deadline_us;

	if (keeper->loss_us != 0 && (first == 0 || keeper->loss_us < first))
		first = keeper->loss_us;
	if (keeper->idle_us != 0 && (first == 0 || keeper->idle_us < first))
		first = keeper->idle_us;
	loop_wait(&keeper->loop, clock_until_ms(first));
	if (keeper->loss_us != 0 && clock_monotonic_us() >= keeper->loss_us)
		loss_on_deadline(keeper);
	if (keeper->idle_us != 0 && clock_monotonic_us() >= keeper->idle_us) {
		keeper->idle_us = 0;
		stop_job(keeper, CAUSE_IDLE);
	}
	if (keeper->deadline_us != 0 && clock_monotonic_us() >= keeper->deadline_us)
		stop_on_deadline(keeper);
}

void
keeper_hear(struct keeper *keeper, const struct message *message)
{
	keeper->handed = message_rules[message->type].descriptors > 0 ? message->descriptors[0] : -1;
	switch (message->type) {
#define TO_KEEPER(NAME, name, sender, descriptors) \
	case MSG_##NAME: \
		keeper_on_##name(keeper, &message->body.name); \
		break;
#include "messages.def"
	default: /* channel_take() lets nothing else pass */
		fatal("message %d is not for a keeper", (int)message->type);
	}
}

void
keeper_close(struct keeper *keeper)
{
	output_close(&keeper->out);
	output_close(&keeper->err);
	stream_close(&keeper->out.stream);
	stream_close(&keeper->err.stream);
	loop_close(&keeper->loop);
}
