#ifndef AUDITOR_RIG_H
#define AUDITOR_RIG_H

/*
 * An auditor between two peers that the test plays.  AUDITOR_BINARY names a built program to start
 * as launch would; without it the auditor's own code runs in a forked child, unconfined and
 * under the sanitizers.  Needs all of auditor/ but main.c, and auditor/verify/verify.c.
 */
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>

#include "auditor.h"
#include "facts.h"
#include "fields.h"
#include "log.h"
#include "process.h"
#include "segments.h"
#include "text.h"

#include "al1_log.h"

#define RIG_PATIENCE_MS 10000

struct rig {
	char folder[64];
	int log_fd, key_fd;
	struct channel broker, executor; /* the test's ends */
	pid_t pid;
	uint64_t next_sn;
	struct msg_record_synced acked;  /* the newest */
	bool has_acked;
};

static struct auditor rig_auditor; /* in the child only */
static const char *rig_place;      /* where to begin to look for a place; NULL: /tmp */

static inline void
rig_make(struct rig *rig)
{
	const char *const places[] = { rig_place ? rig_place : "/tmp", "/var/tmp", "/dev/shm" };

	*rig = (struct rig){ .log_fd = -1 };
	for (size_t i = 0; i < 3 && rig->log_fd < 0; i++) {
		int fd = open(places[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (fd >= 0 && journal_place(fd) != JOURNAL_PLACE_REFUSED) {
			snprintf(rig->folder, sizeof(rig->folder), "%s/auditor-XXXXXX", places[i]);
			if (!mkdtemp(rig->folder))
				abort();
			rig->log_fd = 0;
		}
		close(fd);
	}
}

/* log/ and key/ inside; after a mount over the folder, if the test wants one. */
static inline void
rig_open(struct rig *rig)
{
	int folder = open(rig->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (folder < 0)
		abort();
	mkdirat(folder, "log", 0700);
	mkdirat(folder, "key", 0700);
	rig->log_fd = openat(folder, "log", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	rig->key_fd = openat(folder, "key", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	close(folder);
}

static inline void
rig_remove(struct rig *rig)
{
	char path[128];
	struct segments segments;

	segments_list(rig->log_fd, &segments);
	for (size_t i = 0; i < segments.count; i++) {
		chain_segment_name(path, segments.first_seqs[i]);
		unlinkat(rig->log_fd, path, 0);
	}
	for (size_t i = 0; i < segments.stranger_count; i++)
		unlinkat(rig->log_fd, segments.strangers[i], 0);
	segments_free(&segments);
	unlinkat(rig->log_fd, "trust", 0);
	unlinkat(rig->key_fd, "key.state", 0);
	unlinkat(rig->key_fd, "log.key", 0);
	close(rig->log_fd);
	close(rig->key_fd);
	snprintf(path, sizeof(path), "%s/log", rig->folder);
	rmdir(path);
	snprintf(path, sizeof(path), "%s/key", rig->folder);
	rmdir(path);
	rmdir(rig->folder);
}

/* The child's descriptors as launch ties them. */
static inline void
rig_tie(const int fds[6])
{
	int high[6];

	for (int i = 0; i < 6; i++)
		high[i] = fcntl(fds[i], F_DUPFD, 100);
	for (int i = 0; i < 6; i++)
		if (dup2(high[i], BOOT_FD + i) < 0)
			_exit(99);
}

static inline _Noreturn void
rig_run(const char *argument)
{
	char *binary = getenv("AUDITOR_BINARY");
	char *argv[] = { "agent-safe-auditor", (char *)(uintptr_t)argument, NULL };

	if (binary) {
		execv(binary, argv);
		_exit(98);
	}
	process_begin("auditor", AUDITOR_LOCK_FD);
	auditor_open(&rig_auditor);
	if (argument) {
		auditor_print_segment(&rig_auditor);
		_exit(0);
	}
	auditor_begin(&rig_auditor);
	while (auditor_wanted(&rig_auditor))
		auditor_serve(&rig_auditor);
	auditor_close(&rig_auditor);
	_exit(0);
}

/* argument: NULL or "recover"; output_fd: its standard output. */
static inline void
rig_start_with(struct rig *rig, const char *argument, int output_fd)
{
	static struct boot boot;
	int broker[2], executor[2], boot_fd, null = open("/dev/null", O_RDWR | O_CLOEXEC);

	boot = (struct boot){ .mode = MODE_WORKSPACE_ROOT, .origin = LOG_ORIGIN };
	boot_fd = boot_write(&boot);
	if (boot_fd < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, broker) < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, executor) < 0)
		abort();
	rig->pid = fork();
	if (rig->pid == 0) {
		dup2(output_fd >= 0 ? output_fd : null, STDOUT_FILENO);
		if (!getenv("RIG_VERBOSE"))
			dup2(null, STDERR_FILENO);
		rig_tie((int[]){ boot_fd, broker[1], executor[1], rig->log_fd, rig->key_fd, null });
		rig_run(argument);
	}
	close(boot_fd);
	close(null);
	close(broker[1]);
	close(executor[1]);
	rig->broker = (struct channel){ broker[0], PROCESS_BROKER, PROCESS_AUDITOR };
	rig->executor = (struct channel){ executor[0], PROCESS_EXECUTOR, PROCESS_AUDITOR };
}

static inline void
rig_start(struct rig *rig)
{
	rig_start_with(rig, NULL, -1);
}

/* Exit status, or 128 + signal. */
static inline int
rig_wait(struct rig *rig)
{
	int status;

	if (waitpid(rig->pid, &status, 0) != rig->pid)
		abort();
	close(rig->broker.fd);
	close(rig->executor.fd);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Both peers leave. */
static inline int
rig_stop(struct rig *rig)
{
	shutdown(rig->broker.fd, SHUT_RDWR);
	shutdown(rig->executor.fd, SHUT_RDWR);
	return rig_wait(rig);
}

/* The next message; MSG_NONE when the auditor is gone or silent for long. */
static inline struct message
rig_hear(const struct channel *channel)
{
	struct message message = { 0 };
	struct pollfd poll_fd = { .fd = channel->fd, .events = POLLIN };

	if (poll(&poll_fd, 1, RIG_PATIENCE_MS) == 1 && channel_take(channel, &message, NULL) == CHANNEL_MESSAGE)
		return message;
	return (struct message){ .type = MSG_NONE };
}

static inline void
rig_say(const struct channel *channel, struct message *message, int fd)
{
	message->descriptors[0] = fd;
	while (channel_send(channel, message) < 0 && errno == EAGAIN)
		usleep(1000);
	if (fd >= 0)
		close(fd);
}

static inline struct message
rig_greet(struct rig *rig, bool resync)
{
	struct message hello = { .type = MSG_BROKER_HELLO };

	hello.body.broker_hello.next_sn = rig->next_sn;
	hello.body.broker_hello.acked_sn = rig->has_acked ? rig->acked.sn : UINT64_MAX;
	hello.body.broker_hello.acked_seq = rig->acked.seq;
	memcpy(hello.body.broker_hello.acked_hash, rig->acked.line_hash, 32);
	hello.body.broker_hello.resync = resync;
	rig_say(&rig->broker, &hello, -1);
	return rig_hear(&rig->broker);
}

static inline struct message
rig_greet_executor(struct rig *rig)
{
	struct message hello = { .type = MSG_EXECUTOR_HELLO };

	rig_say(&rig->executor, &hello, -1);
	return rig_hear(&rig->executor);
}

static inline void
rig_send_record(const struct rig *rig, uint64_t sn, const char *type, const char *body)
{
	struct message append = { .type = MSG_RECORD_APPEND };

	append.body.record_append.sn = sn;
	snprintf(append.body.record_append.type, RECORD_TYPE_BYTES, "%s", type);
	rig_say(&rig->broker, &append, sealed_make("d", body, strlen(body)));
}

static inline void
rig_note_ack(struct rig *rig, const struct message *answer)
{
	if (answer->type == MSG_RECORD_SYNCED) {
		rig->acked = answer->body.record_synced;
		rig->has_acked = true;
		rig->next_sn = rig->acked.sn + 1;
	}
}

/* The next record of the broker and its answer. */
static inline struct message
rig_record(struct rig *rig, const char *type, const char *body)
{
	struct message answer;

	rig_send_record(rig, rig->next_sn, type, body);
	answer = rig_hear(&rig->broker);
	rig_note_ack(rig, &answer);
	return answer;
}

/* --- runs ------------------------------------------------------------------------- */

static inline struct run_name
rig_run_name(uint8_t job, uint32_t attempt)
{
	return (struct run_name){ .job = { job }, .attempt = attempt };
}

/* job.approved and job.dispatch of a run whose plan has the digest {job, job, ...}. */
static inline struct message
rig_dispatch(struct rig *rig, uint8_t job, uint32_t attempt)
{
	struct run_name run = rig_run_name(job, attempt);
	char uuid[TEXT_UUID], hex[65], body[256];
	uint8_t digest[32];

	text_uuid(uuid, run.job);
	memset(digest, job, sizeof(digest));
	text_hex(hex, digest, sizeof(digest));
	snprintf(body, sizeof(body), "{\"job\":\"%s\",\"by\":\"ana\"}", uuid);
	rig_record(rig, "job.approved", body);
	snprintf(body, sizeof(body), "{\"job\":\"%s\",\"attempt\":%u,\"slot\":0,\"spec_sha256\":\"%s\"}", uuid, attempt, hex);
	return rig_record(rig, "job.dispatch", body);
}

static inline int
rig_intent_facts(void)
{
	struct fields_writer writer;
	uint8_t digest[32] = { 7 };
	int fd;

	fields_begin(&writer, FACTS_MAGIC);
	fields_put_text(&writer, FACT_ARG, "/bin/echo");
	fields_put_text(&writer, FACT_ARG, "caf\xc3\xa9 \x07 \"quoted\"");
	fields_put_text(&writer, FACT_ARG, "\xff\xfe");
	fields_put_text(&writer, FACT_CWD, "/srv/work");
	fields_put(&writer, FACT_ENV_SHA256, digest, sizeof(digest));
	fields_put_u64(&writer, FACT_UID, 1000);
	fields_put_text(&writer, FACT_PROGRAM_TARGET, "/bin/echo");
	fields_put_u64(&writer, FACT_PROGRAM_DEV, 2049);
	fields_put_u64(&writer, FACT_PROGRAM_INO, UINT64_MAX);
	fields_put(&writer, FACT_PROGRAM_SHA256, digest, sizeof(digest));
	fields_put_text(&writer, FACT_PROFILE, "default");
	fields_put_text(&writer, FACT_NETWORK, "none");
	fields_put(&writer, FACT_POLICY_SHA256, "01234567890123456789012345678901", 32);
	fields_put(&writer, FACT_LIMITS, &(struct fact_limits){ 0 }, sizeof(struct fact_limits));
	fd = fields_seal(&writer, "facts");
	fields_free(&writer);
	return fd;
}

static inline struct message
rig_intent(struct rig *rig, uint8_t job, uint32_t attempt, uint8_t digest)
{
	struct message intent = { .type = MSG_INTENT_DECLARE };

	intent.body.intent_declare.run = rig_run_name(job, attempt);
	memset(intent.body.intent_declare.digest, digest, 32);
	rig_say(&rig->executor, &intent, rig_intent_facts());
	return rig_hear(&rig->executor);
}

static inline int
rig_fact_fields(enum fact fact)
{
	struct run_end end = { .outcome = OUTCOME_SUCCEEDED, .layers = LAYER_SECCOMP };
	uint64_t handled[3] = { 0xffff, 3, 3 };
	uint8_t digest[32] = { 9 };
	struct fields_writer writer;
	int fd;

	fields_begin(&writer, FACTS_MAGIC);
	if (fact == FACT_STARTED) {
		fields_put_u64(&writer, FACT_TIME_US, 1);
		fields_put_u64(&writer, FACT_LAYERS, LAYER_SECCOMP | LAYER_LANDLOCK);
		fields_put_u64(&writer, FACT_LANDLOCK_ABI, 6);
		fields_put(&writer, FACT_FILTER_SHA256, digest, sizeof(digest));
		fields_put(&writer, FACT_LANDLOCK_HANDLED, handled, sizeof(handled));
	} else if (fact == FACT_ENDED)
		fields_put(&writer, FACT_END, &end, sizeof(end));
	else if (fact == FACT_LOST)
		fields_put_text(&writer, FACT_DETAIL, "no result");
	fd = fields_seal(&writer, "facts");
	fields_free(&writer);
	return fd;
}

static inline struct message
rig_fact(struct rig *rig, uint8_t job, uint32_t attempt, enum fact fact)
{
	struct message append = { .type = MSG_FACT_APPEND };

	append.body.fact_append.token = 77;
	append.body.fact_append.run = rig_run_name(job, attempt);
	append.body.fact_append.fact = fact;
	rig_say(&rig->executor, &append, rig_fact_fields(fact));
	return rig_hear(&rig->executor);
}

/* --- the log on disk ------------------------------------------------------------------ */

/* As agent-safe-audit-verify without a key. */
static inline enum verdict
rig_verify(const struct rig *rig)
{
	struct segments segments;
	bool more = true;

	log_forget();
	verify_begin(&log_verdict, LOG_ORIGIN, NULL);
	if (log_operator)
		verify_trust_operator(&log_verdict, log_operator);
	if (segments_list(rig->log_fd, &segments) < 0)
		abort();
	for (size_t i = 0; i < segments.count && more; i++) {
		int fd = segments_open(rig->log_fd, segments.first_seqs[i]);

		more = verify_segment(&log_verdict, fd, segments.first_seqs[i]);
		close(fd);
	}
	segments_free(&segments);
	verify_end(&log_verdict, 0);
	return log_verdict.verdict;
}

static inline size_t
rig_segments(const struct rig *rig)
{
	struct segments segments;
	size_t count;

	segments_list(rig->log_fd, &segments);
	count = segments.count;
	segments_free(&segments);
	return count;
}

#endif
