#ifndef MODEL_WORLD_H
#define MODEL_WORLD_H

/*
 * One life of a queue and a log: a broker (outbox and store, in a child), an auditor (whole, in a
 * child), and between them this process, which carries every message by hand.  So nothing happens
 * but by the schedule, and no clock decides anything.  A letter each:
 *
 *   a  the broker commits a change with its record, and sends what it may
 *   b  it dies within such a transaction, before the commit
 *   d  the next message of the broker arrives, the auditor answers; the answer is on its way
 *   r  the next answer arrives at the broker, which notes it and does what it announces
 *   k  the next answer arrives, and the broker dies before it notes it
 *   B  the broker is killed, the auditor ends   A  the auditor is killed, and the broker with it
 *   T  both end in order
 *      (what was on its way is lost; both begin anew)
 *   s  the database is copied   S  the copy is put back
 *   l  log and key are copied   L  the copy is put back
 *   !  the model forgets a step, to see that it notices
 *
 * Held to be true, after every step and at the end: a record is in the log once, in order and as it
 * was committed; the auditor takes each as new once; nothing is done before its record is in the log;
 * no change that was told is lost; an older database and a cut log are refused, when and only when
 * something would be missing that one of them knows as written; the log verifies.
 */
#include "model_broker.h"

/* --- beginning and ending --- */

/* Its words after a step; false: it is gone, and said so with this exit status. */
static inline bool
listen_to(int *status)
{
	struct told words;

	if (recv(world.orders, &words, sizeof(words), 0) != sizeof(words)) {
		close(world.orders);
		close(world.far_end.fd);
		waitpid(world.broker, status, 0);
		*status = WIFEXITED(*status) ? WEXITSTATUS(*status) : 128;
		world.broker = 0;
		return false;
	}
	if (words.next_sn != world.now.count)
		breaks("the database has %llu changes, not %llu", (unsigned long long)words.next_sn,
		    (unsigned long long)world.now.count);
	if (words.settled < world.now.acked)
		breaks("an answer that was noted is forgotten");
	world.now.acked = words.settled;
	if (words.done > 0 && words.done_from + words.done > read_log())
		breaks("something was done before its record");
	return true;
}

static inline void
start_broker(void)
{
	int pair[2], orders[2], status;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, orders) < 0)
		abort();
	world.near_end = (struct channel){ pair[0], PROCESS_BROKER, PROCESS_AUDITOR };
	world.far_end = (struct channel){ pair[1], PROCESS_AUDITOR, PROCESS_BROKER };
	world.broker = fork();
	if (world.broker == 0) {
		close(pair[1]);
		close(orders[1]);
		live_as_broker(orders[0]);
	}
	close(pair[0]);
	close(orders[0]);
	world.orders = orders[1];
	world.waiting = 0;
	world.greeted = false;
	world.opened = world.now.count;
	if (!listen_to(&status))
		breaks("the broker does not start: %d", status);
}

static inline void
end_broker(int number)
{
	struct order order = { .what = 'q' };
	int status;

	if (number)
		kill(world.broker, number);
	else if (send(world.orders, &order, sizeof(order), 0) < 0)
		breaks("the broker is gone");
	listen_to(&status);
	if (status != (number ? 128 : 0))
		breaks("the broker ended with %d", status);
}


static inline void
end_auditor(int number)
{
	int status;

	if (number)
		kill(world.rig.pid, number);
	status = number ? rig_wait(&world.rig) : rig_stop(&world.rig);
	world.rig.pid = 0;
	if (status != (number ? 128 + number : 0))
		breaks("the auditor ended with %d", status);
}

/* The broker is gone: so is the auditor, in good order; a new pair begins. */
static inline void
start_both(void)
{
	if (world.rig.pid > 0)
		end_auditor(0);
	rig_start(&world.rig);
	start_broker();
}

/* --- copies --- */

static inline void
shell(const char *format, ...) __attribute__((format(printf, 1, 2)));

static inline void
shell(const char *format, ...)
{
	char text[512];
	va_list arguments;
	pid_t child;
	int status;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	child = fork();
	if (child == 0) {
		execl("/bin/sh", "sh", "-c", text, (char *)NULL);
		_exit(1);
	}
	if (waitpid(child, &status, 0) != child || status != 0)
		breaks("%s", text);
}

static inline void
copy_database(void)
{
	end_broker(SIGKILL);
	shell("rm -rf %s.copy; cp -r %s %s.copy", world.queue, world.queue, world.queue);
	world.copied = world.now;
	world.has_copy = true;
	start_both();
}

static inline void
put_database_back(void)
{
	if (!world.has_copy)
		return;
	end_broker(SIGKILL);
	shell("rm -rf %s; cp -r %s.copy %s", world.queue, world.queue, world.queue);
	world.now = world.copied;
	start_both();
}

static inline void
copy_log(void)
{
	end_broker(SIGKILL);
	end_auditor(0);
	shell("rm -rf %s.copy; cp -r %s %s.copy", world.rig.folder, world.rig.folder, world.rig.folder);
	world.log_copied = read_log();
	world.has_log_copy = true;
	start_both();
}

static inline void
put_log_back(void)
{
	if (!world.has_log_copy)
		return;
	end_broker(SIGKILL);
	end_auditor(0);
	shell("cd %s && rm -f log/* key/* && cp -r %s.copy/log %s.copy/key .", world.rig.folder, world.rig.folder,
	    world.rig.folder);
	for (uint64_t sn = world.log_copied; sn < STEPS_MOST; sn++)
		world.taken[sn] = 0;
	start_both();
}

/* --- messages --- */

/* Is something acknowledged missing on either side? */
static inline bool
must_refuse(void)
{
	uint64_t logged = read_log();

	return logged > world.opened || logged < world.now.acked;
}

/* The auditor does not answer: it minds, and there must be a reason. */
static inline void
refuse(bool wrong)
{
	int status = rig_wait(&world.rig);

	world.rig.pid = 0;
	end_broker(SIGKILL);
	if (!wrong || status != 1)
		breaks("the auditor ended with %d; log %llu, database %llu, acknowledged %llu", status,
		    (unsigned long long)read_log(), (unsigned long long)world.now.count,
		    (unsigned long long)world.now.acked);
	world.refused = true;
}

static inline void
deliver(void)
{
	struct message message, answer;
	bool wrong;

	if (channel_take(&world.far_end, &message, NULL) != CHANNEL_MESSAGE)
		return;
	wrong = message.type == MSG_BROKER_HELLO && must_refuse();
	rig_say(&world.rig.broker, &message, message_rules[message.type].descriptors ? message.descriptors[0] : -1);
	answer = rig_hear(&world.rig.broker);
	if (answer.type == MSG_NONE) {
		refuse(wrong);
		return;
	}
	if (wrong)
		breaks("log and database disagree, and the auditor does not mind");
	if (answer.type == MSG_RECORD_SYNCED && !answer.body.record_synced.duplicate &&
	    ++world.taken[answer.body.record_synced.sn % STEPS_MOST] > 1)
		breaks("the auditor took record %llu as new twice", (unsigned long long)answer.body.record_synced.sn);
	if (answer.type != MSG_RECORD_SYNCED && answer.type != MSG_BROKER_WELCOME)
		breaks("the auditor answers with %d", (int)answer.type);
	world.greeted |= answer.type == MSG_BROKER_WELCOME;
	world.answers[world.waiting++ % WAITING_MOST] = answer;
}

static inline void
answer(char what)
{
	struct order order = { .what = what };
	struct message first = world.answers[0];
	int status;

	if (world.waiting == 0)
		return;
	memmove(world.answers, world.answers + 1, --world.waiting * sizeof(first));
	if (channel_send(&world.far_end, &first) < 0 || send(world.orders, &order, sizeof(order), 0) < 0)
		breaks("the broker is gone");
	if (!listen_to(&status)) {
		if (status != DIED || what != 'k')
			breaks("the broker ended with %d", status);
		start_both();
	}
}

static inline void
change(char what)
{
	struct order order = { .what = what, .tx = ++world.last_tx };
	int status;

	if (world.now.count == STEPS_MOST)
		return;
	if (what == 'a')
		world.now.tx[world.now.count++] = order.tx;
	if (send(world.orders, &order, sizeof(order), 0) < 0)
		breaks("the broker is gone");
	if (listen_to(&status) != (what == 'a'))
		breaks("the broker ended, or did not");
	if (what == 'b')
		start_both();
}

static inline void
take(char what)
{
	switch (what) {
	case 'a': case 'b': change(what); break;
	case 'd': deliver(); break;
	case 'r': case 'k': answer(what); break;
	case 'B': case 'T':
		end_broker(what == 'B' ? SIGKILL : 0);
		start_both();
		break;
	case 'A':
		end_auditor(SIGKILL);
		end_broker(SIGKILL);
		start_both();
		break;
	case 's': copy_database(); break;
	case 'S': put_database_back(); break;
	case 'l': copy_log(); break;
	case 'L': put_log_back(); break;
	default: world.now.tx[0] = 0;
	}
}

/* Until nothing is on its way any more: everything must be in the log then. */
static inline void
settle(void)
{
	for (unsigned i = 0; i < 3 * STEPS_MOST && !world.refused; i++) {
		deliver();
		if (world.waiting > 0)
			answer('r');
	}
	if (!world.refused && (world.now.acked != world.now.count || read_log() != world.now.count))
		breaks("%llu changes, %llu of them acknowledged, %llu in the log", (unsigned long long)world.now.count,
		    (unsigned long long)world.now.acked, (unsigned long long)read_log());
}

static inline bool
model_world(const char *schedule, bool loud)
{
	world.loud = loud;
	rig_make(&world.rig);
	rig_open(&world.rig);
	snprintf(world.queue, sizeof(world.queue), "%s.queue", world.rig.folder);
	mkdir(world.queue, 0700);
	start_both();
	for (const char *at = schedule; *at && !world.refused; at++)
		take(*at);
	settle();
	if (!world.refused) {
		end_broker(0);
		end_auditor(0);
	}
	/* A log of nothing but its own beginning is called incomplete. */
	if (rig_verify(&world.rig) != VERDICT_OK && read_log() > 0)
		breaks("the log does not verify: %s", log_verdict.reason);
	remove_world();
	return true;
}

#endif
