/* Broker and auditor as an executor sees them. */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "digest.h"
#include "fields.h"
#include "loop.h"
#include "plan.h"
#include "text.h"

#include "cage_world.h"

static void
show_log(const struct cage_rig *rig)
{
	char path[LIMIT_PATH], bytes[4096];
	ssize_t length;
	int fd;

	text_format(path, sizeof(path), "%s/log", rig->base);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	length = fd < 0 ? 0 : read(fd, bytes, sizeof(bytes));
	if (length > 0)
		printf("# executor says:\n%.*s", (int)length, bytes);
	close(fd);
}

void
cage_world_give_up(const struct cage_rig *rig, const char *what)
{
	show_log(rig);
	cage_world_fail(what);
}

/* The auditor's side: agree to everything, or refuse intents. */
static void
answer_executor(struct cage_rig *rig, const struct message *heard)
{
	struct message answer = { 0 };

	if (heard->type == MSG_EXECUTOR_HELLO) {
		answer.type = MSG_EXECUTOR_WELCOME;
	} else if (heard->type == MSG_INTENT_DECLARE && rig->permit) {
		answer.type = MSG_INTENT_PERMITTED;
		answer.body.intent_permitted.run = heard->body.intent_declare.run;
		memcpy(answer.body.intent_permitted.digest, heard->body.intent_declare.digest, 32);
	} else if (heard->type == MSG_INTENT_DECLARE) {
		answer.type = MSG_INTENT_REFUSED;
		answer.body.intent_refused =
		    (struct msg_intent_refused){ heard->body.intent_declare.run, REFUSAL_UNBACKED,
		    0 };
	} else {
		rig->facts[heard->body.fact_append.fact & 7]++;
		answer.type = MSG_FACT_RECORDED;
		answer.body.fact_recorded.token = heard->body.fact_append.token;
	}
	for (int i = 0; i < message_rules[heard->type].descriptors; i++)
		close(heard->descriptors[i]);
	channel_must_send(&rig->auditor, &answer);
}

static void
collect(struct cage_rig *rig, const struct run_name *name)
{
	struct message message = { .type = MSG_RUN_COLLECTED };

	message.body.run_collected.run = rig->collected = *name;
	channel_must_send(&rig->broker, &message);
}

/* Told once more, as its mark was not made before the executor was killed. */
static bool
is_told_again(const struct cage_rig *rig, const struct message *message)
{
	return message->type >= MSG_RUN_STARTED && message->type <= MSG_RUN_LOST &&
	    memcmp(&message->body, &rig->collected, sizeof(rig->collected)) == 0;
}

bool
cage_rig_hear(struct cage_rig *rig, struct message *message, uint64_t deadline_us)
{
	for (;;) {
		struct pollfd ready[] = { { rig->broker.fd, POLLIN, 0 },
			{ rig->auditor.fd, POLLIN, 0 } };
		struct message other;

		if (poll(ready, 2, clock_until_ms(deadline_us)) == 0)
			return false;
		if (ready[1].revents && channel_receive(&rig->auditor, &other) == CHANNEL_MESSAGE)
			answer_executor(rig, &other);
		switch (channel_receive(&rig->broker, message)) {
		case CHANNEL_MESSAGE:
			if (!is_told_again(rig, message))
				return true;
			collect(rig, &rig->collected);
			break;
		case CHANNEL_CLOSED:
			cage_world_give_up(rig, "the executor is gone");
		default:
			break;
		}
	}
}

static void
start(struct cage_rig *rig)
{
	int broker[2], auditor[2];
	struct message message;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, broker) < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, auditor) < 0)
		cage_world_fail("socketpair");
	rig->broker = (struct channel){ broker[0], PROCESS_BROKER, PROCESS_EXECUTOR };
	rig->auditor = (struct channel){ auditor[0], PROCESS_AUDITOR, PROCESS_EXECUTOR };
	cage_world_start(rig, broker[1], auditor[1]);
	if (!cage_rig_hear(rig, &message,
	    clock_monotonic_us() + CAGE_WORLD_PATIENCE_MS * 1000ull) ||
	    message.type != MSG_EXECUTOR_READY)
		cage_world_give_up(rig, "no EXECUTOR_READY");
	rig->ready = message.body.executor_ready;
}

void
cage_rig_open(struct cage_rig *rig, bool ordinary)
{
	*rig = (struct cage_rig){ .beside = rig->beside, .network = rig->network,
		.ports = rig->ports };
	rig->ordinary = ordinary;
	rig->permit = true;
	digest_open();
	cage_world_make(rig);
	start(rig);
}

void
cage_rig_restart(struct cage_rig *rig)
{
	kill(rig->executor, SIGKILL);
	waitpid(rig->executor, NULL, 0);
	close(rig->broker.fd);
	close(rig->auditor.fd);
	start(rig);
}

void
cage_rig_write(struct cage_rig *rig, const char *name, const char *text, mode_t mode)
{
	char path[LIMIT_PATH];
	int fd;

	text_format(path, sizeof(path), "%s/%s", rig->workspace, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) ||
	    fchown(fd, CAGE_RIG_OWNER, CAGE_RIG_OWNER) < 0 || fchmod(fd, mode) < 0)
		cage_world_fail(path);
	close(fd);
}

void
cage_rig_start(struct cage_rig *rig, int plan, unsigned slot, struct run_name *name)
{
	struct message message = { .type = MSG_RUN_START, .descriptors = { plan } };
	const void *bytes;
	size_t length;

	random_bytes(name->job, sizeof(name->job));
	name->attempt = 1;
	name->slot = slot;
	message.body.run_start.run = *name;
	bytes = sealed_map(plan, LIMIT_FIELDS_BYTES, &length);
	if (!bytes)
		cage_world_fail("plan");
	digest_take(message.body.run_start.digest, bytes, length);
	sealed_unmap(bytes, length);
	channel_must_send(&rig->broker, &message);
	close(plan);
}

void
cage_rig_ask(struct cage_rig *rig, const struct run_name *name)
{
	struct message message = { .type = MSG_RUN_ASK };

	message.body.run_ask.run = *name;
	channel_must_send(&rig->broker, &message);
}

static void
read_output(const struct cage_rig *rig, const struct run_name *name, const char *stream, char *text,
    size_t size)
{
	char path[LIMIT_PATH], folder[RUN_FOLDER_BYTES];
	ssize_t length;
	int fd;

	run_folder(name, folder);
	text_format(path, sizeof(path), "%s/runs/%u/%s/%s", rig->base, name->slot, folder, stream);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	length = fd < 0 ? 0 : read(fd, text, size - 1);
	text[length < 0 ? 0 : length] = '\0';
	close(fd);
}

/*
 * One message: true when it is the last about this run.  All payloads about a run begin with its
 * name.
 */
static bool
note(const struct message *message, const struct run_name *name, struct cage_run *run)
{
	if (memcmp(&message->body, name, sizeof(*name)) != 0)
		return false;
	run->last = message->type;
	switch (message->type) {
	case MSG_RUN_STARTED:
		run->started = true;
		run->layers = message->body.run_started.layers;
		return false;
	case MSG_RUN_ENDED:
		run->end = message->body.run_ended.end;
		return true;
	case MSG_RUN_REFUSED:
		run->stage = message->body.run_refused.stage;
		run->error = message->body.run_refused.error;
		return true;
	case MSG_RUN_LOST:
		return true;
	default:
		return false;
	}
}

void
cage_rig_wait_started(struct cage_rig *rig, const struct run_name *name)
{
	struct message message;
	struct cage_run run;

	memset(&run, 0, sizeof(run));
	while (!run.started)
		if (!cage_rig_hear(rig, &message,
		    clock_monotonic_us() + CAGE_WORLD_PATIENCE_MS * 1000ull) ||
		    note(&message, name, &run))
			cage_world_give_up(rig, "the run does not start");
}

void
cage_rig_wait(struct cage_rig *rig, const struct run_name *name, uint32_t cancel_after_ms,
    struct cage_run *run)
{
	uint64_t end_us = clock_monotonic_us() + CAGE_WORLD_PATIENCE_MS * 1000ull;
	uint64_t cancel_us = cancel_after_ms ? clock_monotonic_us() + cancel_after_ms * 1000ull : 0;
	struct message message, cancel = { .type = MSG_RUN_CANCEL };

	memset(run, 0, sizeof(*run));
	cancel.body.run_cancel.run = *name;
	for (;;) {
		if (cage_rig_hear(rig, &message, cancel_us ? cancel_us : end_us)) {
			if (note(&message, name, run))
				break;
		} else if (cancel_us) {
			channel_must_send(&rig->broker, &cancel);
			cancel_us = 0;
		} else
			cage_world_give_up(rig, "the run does not end");
	}
	read_output(rig, name, "out", run->out, sizeof(run->out));
	read_output(rig, name, "err", run->err, sizeof(run->err));
	collect(rig, name);
}

bool
cage_rig_run(struct cage_rig *rig, const struct cage_order *order, struct cage_run *run)
{
	int plan = cage_rig_plan(rig, order);
	struct run_name name;

	if (plan < 0)
		return false;
	if (order->spoil)
		order->spoil(rig);
	cage_rig_start(rig, plan, order->slot, &name);
	cage_rig_wait(rig, &name, order->cancel_after_ms, run);
	return true;
}

bool
cage_rig_script(struct cage_rig *rig, const char *script, struct cage_run *run)
{
	const char *const argv[] = { "sh", "-c", script, NULL };

	return cage_rig_run(rig, &(struct cage_order){ .argv = argv }, run);
}

int
cage_rig_close(struct cage_rig *rig)
{
	int status = -1;

	close(rig->broker.fd);
	close(rig->auditor.fd);
	waitpid(rig->executor, &status, 0);
	cage_world_remove(rig);
	return status;
}
