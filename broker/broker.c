/* The broker's life: open, load, serve, close. */
#include <sys/epoll.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "digest.h"
#include "log.h"
#include "process.h"
#include "scope.h"
#include "text.h"

#include "assess.h"
#include "broker.h"
#include "dispatch.h"
#include "door.h"
#include "hooks.h"
#include "last_words.h"
#include "late.h"
#include "pruning.h"
#include "rules.h"
#include "weigh.h"
#include "workers.h"

#define RESYNC_NAME "resync"

/* --- messages --- */

static void
hear(struct broker *broker, const struct message *message)
{
	switch (message->type) {
#define TO_BROKER(NAME, name, sender, descriptors) \
	case MSG_##NAME: \
		broker_on_##name(broker, message); \
		break;
#include "messages.def"
	default:
		fatal("%s is not for the broker", message_rules[message->type].name);
	}
}

/* All that is there; the end of a peer is the end of service. */
static void
hear_all(struct broker *broker, const struct channel *channel)
{
	struct message message;
	enum channel_got got;

	while ((got = channel_receive(channel, &message)) == CHANNEL_MESSAGE)
		hear(broker, &message);
	if (got == CHANNEL_CLOSED)
		fatal("the %s is gone", process_name(channel->peer));
}

static void
on_settled(void *context, const struct letter *letter)
{
	dispatch_recorded(context, letter);
	pruning_recorded(context, letter);
	hooks_recorded(context, letter);
	workers_wake(context);
}

static void
on_auditor(struct source *source, uint32_t events)
{
	struct broker *broker = source->context;

	(void)events;
	hear_all(broker, &broker->auditor);
	outbox_settle(&broker->outbox, on_settled, broker);
}

static void
on_executor(struct source *source, uint32_t events)
{
	struct broker *broker = source->context;

	(void)events;
	store_gather(broker->store);
	hear_all(broker, &broker->executor);
	outbox_gathered(&broker->outbox);
	dispatch_tell_collected(broker);
}

static void
on_propose(struct source *source, uint32_t events)
{
	(void)events;
	door_accept(source->context, source->fd, false);
}

static void
on_control(struct source *source, uint32_t events)
{
	(void)events;
	door_accept(source->context, source->fd, true);
}

static void
watch(struct broker *broker, struct source *source, int fd,
    void (*ready)(struct source *, uint32_t))
{
	*source = (struct source){ .fd = fd, .ready = ready, .context = broker };
	if (loop_add(&broker->loop, source, EPOLLIN) < 0)
		fatal("epoll: %s", strerror(errno));
}

/* --- begin --- */

static void
make_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		fatal("descriptor %d: %s", fd, strerror(errno));
}

/* A run that another boot of the host began is over, whatever the store says. */
static void
read_boot_id(uint8_t boot_id[16])
{
	char text[TEXT_UUID] = "";
	scoped_close int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) != (ssize_t)sizeof(text) - 1 ||
	    !text_read_uuid(text, boot_id))
		fatal("boot_id: %s", strerror(errno));
}

void
broker_open(struct broker *broker)
{
	process_begin("broker", BROKER_LOCK_FD);
	loop_open(&broker->loop);
	process_watch(&broker->loop);
	digest_open();
	if (!boot_read(BOOT_FD, &broker->boot))
		fatal("the boot record is not one");
	close(BOOT_FD);
	read_boot_id(broker->boot_id);
	broker->executor = (struct channel){ BROKER_EXECUTOR_FD, PROCESS_BROKER, PROCESS_EXECUTOR };
	broker->auditor = (struct channel){ BROKER_AUDITOR_FD, PROCESS_BROKER, PROCESS_AUDITOR };
	watch(broker, &broker->executor_source, BROKER_EXECUTOR_FD, on_executor);
	watch(broker, &broker->auditor_source, BROKER_AUDITOR_FD, on_auditor);
	make_nonblocking(BROKER_PROPOSE_FD);
	make_nonblocking(BROKER_CONTROL_FD);
	/* The store names its files relative to here; the path itself may be closed to us. */
	if (fchdir(BROKER_STATE_FD) < 0)
		fatal("state folder: %s", strerror(errno));
}

/*
 * `agent-safe db resync` leaves a file with the name of who ordered it: only root and our own
 * account can write there.  It is gone before the order is carried out, so it counts once.
 */
static void
read_resync(struct outbox *outbox)
{
	char by[LIMIT_BY_BYTES + 1] = "";
	scoped_close int fd = openat(BROKER_STATE_FD, RESYNC_NAME, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	ssize_t got = fd < 0 ? 0 : read(fd, by, sizeof(by) - 1);

	if (fd < 0)
		return;
	if (unlinkat(BROKER_STATE_FD, RESYNC_NAME, 0) < 0)
		fatal(RESYNC_NAME ": %s", strerror(errno));
	if (got > 0 && text_is_utf8(by, strlen(by)))
		outbox_allow_resync(outbox, by);
}

static void
load_pause(struct broker *broker)
{
	struct letters_state state;

	letters_state(broker->store, &state);
	broker->paused = state.held;
	bytes_free(&state.policy_sha256);
}

/* A clock that stands before our newest record has been set back. */
static void
load_clock(struct broker *broker)
{
	uint64_t now_us = clock_realtime_us(), newest_us = letters_newest_us(broker->store);

	broker->newest_us = newest_us > now_us ? newest_us : now_us;
	broker->newest_at_us = clock_monotonic_us();
	if (newest_us > now_us)
		log_warn("the clock was set back by %llu seconds: approvals end as if it had not been",
		    (unsigned long long)((newest_us - now_us) / 1000000));
}

void
broker_load(struct broker *broker)
{
	store_on_failure(last_words, broker);
	broker->store = store_open();
	outbox_open(&broker->outbox, broker->store, &broker->auditor);
	read_resync(&broker->outbox);
	pruning_load(broker);
	hooks_load(broker);
	load_clock(broker);
	rules_load(broker);
	load_pause(broker);
	dispatch_load(broker);
	outbox_hello(&broker->outbox);
}

void
broker_serve_clients(struct broker *broker)
{
	if (broker->serving || !broker->outbox.open || !broker->executor_ready)
		return;
	if (!broker->asked) {
		broker->asked = true;
		dispatch_ask(broker);
	}
	if (!dispatch_is_known(broker))
		return;
	broker->serving = true;
	hooks_catch_up(broker);
	workers_wake(broker);
	watch(broker, &broker->propose_source, BROKER_PROPOSE_FD, on_propose);
	watch(broker, &broker->control_source, BROKER_CONTROL_FD, on_control);
	log_info("serving");
}

/* --- serve --- */

/* The earlier of two moments, where 0 is never. */
static uint64_t
earlier(uint64_t a, uint64_t b)
{
	return !a || (b && b < a) ? b : a;
}

static bool
is_idle(const struct broker *broker)
{
	if (broker->boot.mode == MODE_SYSTEM || broker->clients || !broker->serving)
		return false;
	for (unsigned i = 0; i < LIMIT_SLOTS; i++)
		if (broker->slots[i].used)
			return false;
	return jobs_next_ready(broker->store, clock_realtime_us()) == 0;
}

/* A workspace's trio ends when nobody needs it; the next command starts it again. */
static uint64_t
idle_tick(struct broker *broker)
{
	uint64_t now_us = clock_monotonic_us(), end_us;

	if (!is_idle(broker)) {
		broker->idle_since_us = 0;
		return 0;
	}
	if (!broker->idle_since_us) {
		broker->idle_since_us = now_us;
		store_tidy(broker->store, STORE_TIDY_IDLE);
	}
	end_us = broker->idle_since_us + LIMIT_IDLE_MS * 1000ull;
	if (now_us >= end_us)
		process_finish("nobody needs it");
	return end_us;
}

/* Approvals and proposals end by the clock on the wall, but nothing does before queue and log agree. */
static uint64_t
expiry_tick(struct broker *broker)
{
	uint64_t next_us, now_us;

	if (!broker->outbox.open)
		return 0;
	next_us = earlier(weigh_expire(broker), late_expire(broker));
	now_us = weigh_now_us(broker);
	if (!next_us)
		return 0;
	return clock_monotonic_us() + (next_us > now_us ? next_us - now_us : 0) + 1000;
}

/* Everything that is due; the next moment when something will be (monotonic us), 0: none. */
static uint64_t
go_on(struct broker *broker)
{
	uint64_t next_us;
	bool moved;

	store_gather(broker->store);
	do {
		moved = operation_run(broker);
		moved |= client_run(broker);
	} while (moved && process_wanted());
	outbox_gathered(&broker->outbox);
	next_us = assess_tick(broker);
	next_us = earlier(next_us, outbox_tick(&broker->outbox));
	next_us = earlier(next_us, operation_deadline(broker));
	next_us = earlier(next_us, expiry_tick(broker));
	next_us = earlier(next_us, workers_tick(broker));
	next_us = earlier(next_us, pruning_tick(broker));
	hooks_tick(broker);
	next_us = earlier(next_us, idle_tick(broker));
	store_tidy(broker->store, STORE_TIDY_BUSY);
	return next_us;
}

void
broker_serve(struct broker *broker)
{
	uint64_t next_us = 0;

	while (process_wanted()) {
		loop_wait(&broker->loop, clock_until_ms(next_us));
		next_us = go_on(broker);
	}
}

void
broker_close(struct broker *broker)
{
	client_close_all(broker);
	hooks_close(broker);
	outbox_forget(&broker->outbox);
	store_tidy(broker->store, STORE_TIDY_NOW);
	store_close(broker->store);
	policy_free(broker->rules.policy);
	loop_close(&broker->loop);
}
