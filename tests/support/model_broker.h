#ifndef MODEL_BROKER_H
#define MODEL_BROKER_H

/* The broker's side of model_world.h: outbox and store in a child that takes one order at a time; and the log. */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auditor_rig.h"
#include "json.h"
#include "outbox.h"
#include "store.h"

#define STEPS_MOST 64
#define WAITING_MOST 64
#define DIED 90

struct told { /* the broker's words after each step */
	uint64_t next_sn, settled; /* settled: how many */
	uint64_t done_from, done;  /* effects of this step */
};

struct order {
	char what;
	uint32_t tx;
};

/* What is known of the database: which change has which number. */
struct known {
	uint32_t tx[STEPS_MOST];
	uint64_t count, acked;
};

static struct {
	struct rig rig;
	char queue[96];
	pid_t broker;
	struct channel near_end, far_end; /* the broker's own end, and ours */
	int orders;
	struct message answers[WAITING_MOST];
	size_t waiting;
	struct known now, copied;
	bool has_copy, has_log_copy;
	uint64_t log_copied;
	unsigned taken[STEPS_MOST]; /* how often the auditor took it as new */
	uint32_t last_tx;
	uint64_t opened; /* changes in the database when the broker opened it */
	bool greeted, refused, loud;
} world;

/* Folders and copies, also of a world that broke. */
static inline void
remove_world(void)
{
	pid_t child = fork();

	if (child == 0) {
		char copy[128], queue_copy[128];

		snprintf(copy, sizeof(copy), "%s.copy", world.rig.folder);
		snprintf(queue_copy, sizeof(queue_copy), "%s.copy", world.queue);
		execlp("rm", "rm", "-rf", world.rig.folder, world.queue, copy, queue_copy, (char *)NULL);
		_exit(1);
	}
	waitpid(child, NULL, 0);
}

static _Noreturn void __attribute__((format(printf, 1, 2)))
breaks(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (world.loud) {
		fprintf(stderr, "# does not hold: ");
		vfprintf(stderr, format, arguments);
		fprintf(stderr, "\n");
	}
	va_end(arguments);
	if (world.broker > 0)
		kill(world.broker, SIGKILL);
	if (world.rig.pid > 0)
		kill(world.rig.pid, SIGKILL);
	remove_world();
	_exit(1);
}

/* --- the broker, in its child --- */

static struct outbox outbox;
static struct told told;

static inline void
add(uint32_t tx, bool commits)
{
	struct json *d = json_object();

	json_add_integer(d, "tx", tx);
	store_begin(outbox.store);
	outbox_add(&outbox, "job.retry", d, false, 0);
	if (!commits)
		_exit(DIED);
	outbox_commit(&outbox);
}

static inline void
do_it(void *context, const struct letter *letter)
{
	(void)context;
	if (told.done++ == 0)
		told.done_from = letter->sn;
}

static inline void
hear(bool notes)
{
	struct message message;

	if (channel_take(&world.near_end, &message, NULL) != CHANNEL_MESSAGE)
		_exit(80);
	if (message.type == MSG_BROKER_WELCOME)
		outbox_welcome(&outbox, &message.body.broker_welcome);
	else if (message.type == MSG_RECORD_SYNCED)
		outbox_synced(&outbox, &message.body.record_synced);
	else
		_exit(81);
	if (!notes)
		_exit(DIED);
	outbox_settle(&outbox, do_it, NULL);
}

static _Noreturn void
live_as_broker(int orders)
{
	struct order order;

	if (chdir(world.queue) < 0 || (!world.loud && !freopen("/dev/null", "w", stderr)))
		_exit(82);
	digest_open();
	outbox_open(&outbox, store_open(), &world.near_end);
	outbox_hello(&outbox);
	do {
		told.next_sn = outbox.next_sn;
		told.settled = outbox.settled_sn == UINT64_MAX ? 0 : outbox.settled_sn + 1;
		if (send(orders, &told, sizeof(told), MSG_NOSIGNAL) != sizeof(told))
			_exit(83);
		told = (struct told){ 0 };
		if (recv(orders, &order, sizeof(order), 0) != sizeof(order))
			_exit(84);
		if (order.what == 'a' || order.what == 'b')
			add(order.tx, order.what == 'a');
		else if (order.what == 'r' || order.what == 'k')
			hear(order.what == 'r');
	} while (order.what != 'q');
	store_close(outbox.store);
	_exit(0);
}

/* --- the log as it is on the disk --- */

/* One line: a record of the broker must be the next, and say what was committed with this number. */
static inline void
check_line(const char *line, uint64_t *count)
{
	const char *source = strstr(line, "\"src\":\"broker\",\"sn\":"), *tx;

	if (!source)
		return;
	tx = strstr(line, "{\"tx\":");
	if (strtoull(source + 20, NULL, 10) != *count || !tx)
		breaks("the log has record %s where %llu is due", source + 20, (unsigned long long)*count);
	/* Before the greeting a database that was put back may hold another change: that is refused then. */
	if (world.greeted && *count < world.now.count && strtoul(tx + 6, NULL, 10) != world.now.tx[*count])
		breaks("record %llu is not what was committed", (unsigned long long)*count);
	++*count;
}

/* How many records of the broker there are. */
static inline uint64_t
read_log(void)
{
	static char text[1 << 20];
	struct segments segments;
	uint64_t count = 0;

	segments_list(world.rig.log_fd, &segments);
	for (size_t i = 0; i < segments.count; i++) {
		int fd = segments_open(world.rig.log_fd, segments.first_seqs[i]);
		ssize_t length = pread(fd, text, sizeof(text) - 1, 0);
		char *end;

		text[length > 0 ? length : 0] = '\0';
		for (char *line = text; (end = strchr(line, '\n')); line = end + 1) {
			*end = '\0';
			check_line(line, &count);
		}
		close(fd);
	}
	segments_free(&segments);
	return count;
}

#endif
