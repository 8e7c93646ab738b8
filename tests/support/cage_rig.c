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

#define PATIENCE_MS 30000

static const char *const default_env[] = { "PATH=/usr/bin:/bin", "HOME=/tmp", "LANG=C.UTF-8",
	NULL };

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

static _Noreturn void
give_up(const struct cage_rig *rig, const char *what)
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

/*
 * The next message to the broker; what comes for the auditor is answered on the way.  False at the
 * deadline.
 */
static bool
hear(struct cage_rig *rig, struct message *message, uint64_t deadline_us)
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
			return true;
		case CHANNEL_CLOSED:
			give_up(rig, "the executor is gone");
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
	if (!hear(rig, &message, clock_monotonic_us() + PATIENCE_MS * 1000ull) ||
	    message.type != MSG_EXECUTOR_READY)
		give_up(rig, "no EXECUTOR_READY");
	rig->ready = message.body.executor_ready;
}

void
cage_rig_open(struct cage_rig *rig, bool ordinary)
{
	memset(rig, 0, sizeof(*rig));
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

/* Ask what argv[0] is; the answer's bytes are mapped, NULL: not available. */
static const void *
assess(struct cage_rig *rig, const struct cage_order *order, const char *cwd, size_t *length)
{
	struct message message = { .type = MSG_PROGRAM_ASSESS };
	struct fields_writer writer;
	const void *bytes = NULL;
	struct stat seen;

	if (stat(cwd, &seen) < 0)
		cage_world_fail(cwd);
	fields_begin(&writer, ASSESS_QUESTION_MAGIC);
	fields_put_text(&writer, ASSESS_ROOT, rig->workspace);
	fields_put_text(&writer, ASSESS_CWD, cwd);
	fields_put_u64(&writer, ASSESS_CWD_DEV, seen.st_dev);
	fields_put_u64(&writer, ASSESS_CWD_INO, seen.st_ino);
	fields_put_text(&writer, ASSESS_PROGRAM, order->argv[0]);
	fields_put_text(&writer, ASSESS_PATH,
	    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
	message.descriptors[0] = fields_seal(&writer, "question");
	fields_free(&writer);
	message.body.program_assess.question = ++rig->question;
	channel_must_send(&rig->broker, &message);
	close(message.descriptors[0]);
	if (!hear(rig, &message, clock_monotonic_us() + PATIENCE_MS * 1000ull) ||
	    message.type != MSG_PROGRAM_ASSESSED)
		give_up(rig, "no PROGRAM_ASSESSED");
	if (message.body.program_assessed.status == ASSESS_OK)
		bytes = sealed_map(message.descriptors[0], LIMIT_FIELDS_BYTES, length);
	close(message.descriptors[0]);
	return bytes;
}

static void
put_directory(struct fields_writer *writer, const char *cwd)
{
	union {
		struct file_handle handle;
		unsigned char space[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} seen = { .handle.handle_bytes = MAX_HANDLE_SZ };
	unsigned char bytes[4 + MAX_HANDLE_SZ];
	struct statx stat;
	struct stat plain;
	int mount_id;

	if (statx(AT_FDCWD, cwd, 0, STATX_BTIME, &stat) < 0 || lstat(cwd, &plain) < 0)
		cage_world_fail(cwd);
	fields_put_text(writer, PLAN_CWD, cwd);
	fields_put_u64(writer, PLAN_CWD_DEV, plain.st_dev);
	fields_put_u64(writer, PLAN_CWD_INO, plain.st_ino);
	fields_put_u64(writer, PLAN_CWD_BIRTH_NS,
	    (uint64_t)stat.stx_btime.tv_sec * 1000000000u + stat.stx_btime.tv_nsec);
	if (name_to_handle_at(AT_FDCWD, cwd, &seen.handle, &mount_id, 0) < 0) {
		fields_put(writer, PLAN_CWD_HANDLE, "", 0);
		return;
	}
	memcpy(bytes, &seen.handle.handle_type, 4);
	memcpy(bytes + 4, seen.handle.f_handle, seen.handle.handle_bytes);
	fields_put(writer, PLAN_CWD_HANDLE, bytes, 4 + seen.handle.handle_bytes);
}

static void
put_limits(struct fields_writer *writer, const struct cage_order *order)
{
	fields_put_u64(writer, PLAN_TIMEOUT_MS, order->timeout_ms ? order->timeout_ms : 20000);
	fields_put_u64(writer, PLAN_GRACE_MS, 500);
	fields_put_u64(writer, PLAN_KEEP_BYTES, 65536);
	fields_put_u64(writer, PLAN_OUTPUT_BYTES, 0);
	fields_put_u64(writer, PLAN_FILE_BYTES, order->file_bytes);
	fields_put_u64(writer, PLAN_CPU_SECONDS, order->cpu_seconds);
	fields_put_u64(writer, PLAN_OPEN_FILES, order->open_files ? order->open_files : 1024);
	fields_put_u64(writer, PLAN_PROCESSES, order->processes ? order->processes : 256);
	fields_put_u64(writer, PLAN_MEMORY_BYTES, 0);
	fields_put_u64(writer, PLAN_TMP_BYTES, order->tmp_bytes ? order->tmp_bytes : 16u << 20);
}

int
cage_rig_plan(struct cage_rig *rig, const struct cage_order *order)
{
	const char *const *envp = order->envp ? order->envp : default_env;
	const char *cwd = order->cwd ? order->cwd : rig->workspace;
	struct fields_writer writer;
	struct fields_reader reader;
	struct field field;
	const void *answer;
	size_t length;
	int fd;

	answer = assess(rig, order, cwd, &length);
	if (!answer)
		return -1;
	fields_begin(&writer, PLAN_MAGIC);
	fields_put(&writer, PLAN_POLICY_SHA256, rig->boot.policy_sha256, 32);
	fields_put_text(&writer, PLAN_PROFILE, "default");
	fields_put_text(&writer, PLAN_ROOT, rig->workspace);
	put_directory(&writer, cwd);
	for (size_t i = 0; order->argv[i]; i++)
		fields_put_text(&writer, PLAN_ARG, order->argv[i]);
	for (size_t i = 0; envp[i]; i++)
		fields_put_text(&writer, PLAN_ENV, envp[i]);
	fields_open(&reader, ASSESS_ANSWER_MAGIC, answer, length);
	while (fields_next(&reader, &field))
		if (field.tag < ASSESS_RULE_RESOLVED)
			fields_put(&writer, field.tag, field.bytes, field.length);
	put_limits(&writer, order);
	fd = fields_seal(&writer, "plan");
	fields_free(&writer);
	sealed_unmap(answer, length);
	return fd;
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
		if (!hear(rig, &message, clock_monotonic_us() + PATIENCE_MS * 1000ull) ||
		    note(&message, name, &run))
			give_up(rig, "the run does not start");
}

void
cage_rig_wait(struct cage_rig *rig, const struct run_name *name, uint32_t cancel_after_ms,
    struct cage_run *run)
{
	uint64_t end_us = clock_monotonic_us() + PATIENCE_MS * 1000ull;
	uint64_t cancel_us = cancel_after_ms ? clock_monotonic_us() + cancel_after_ms * 1000ull : 0;
	struct message message, cancel = { .type = MSG_RUN_CANCEL },
	    collected = { .type = MSG_RUN_COLLECTED };

	memset(run, 0, sizeof(*run));
	cancel.body.run_cancel.run = collected.body.run_collected.run = *name;
	for (;;) {
		if (hear(rig, &message, cancel_us ? cancel_us : end_us)) {
			if (note(&message, name, run))
				break;
		} else if (cancel_us) {
			channel_must_send(&rig->broker, &cancel);
			cancel_us = 0;
		} else
			give_up(rig, "the run does not end");
	}
	read_output(rig, name, "out", run->out, sizeof(run->out));
	read_output(rig, name, "err", run->err, sizeof(run->err));
	channel_must_send(&rig->broker, &collected);
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
