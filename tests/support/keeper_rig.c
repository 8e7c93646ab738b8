/* One real keeper between stand-ins. */
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fields.h"
#include "keep.h"
#include "keeper_init.h"
#include "keeper_rig.h"
#include "text.h"

static const struct run_name rig_run_name = { .job = { 1, 2, 3, 4 }, .attempt = 1, .slot = 0 };

static struct rig *current; /* what to end when a wait takes too long */

_Noreturn static void
give_up(const char *what)
{
	printf("# keeper rig: %s: %s\n", what, strerror(errno));
	fflush(stdout);
	if (current)
		rig_clean(current);
	_exit(1);
}

static int
need(int result, const char *what)
{
	if (result < 0)
		give_up(what);
	return result;
}

static int
write_orders(const struct rig_job *job, pid_t init)
{
	struct fields_writer writer;
	int fd;

	if (job->orders)
		return need(sealed_make("orders", job->orders, strlen(job->orders)), "orders");
	fields_begin(&writer, KEEP_MAGIC);
	fields_put(&writer, KEEP_RUN, &rig_run_name, sizeof(rig_run_name));
	fields_put(&writer, KEEP_DIGEST, "01234567890123456789012345678901", 32);
	fields_put_u64(&writer, KEEP_TIMEOUT_MS, job->timeout_ms ? job->timeout_ms : 10000);
	fields_put_u64(&writer, KEEP_GRACE_MS, job->grace_ms ? job->grace_ms : 300);
	fields_put_u64(&writer, KEEP_KEEP_BYTES, job->keep_bytes ? job->keep_bytes : 1 << 20);
	fields_put_u64(&writer, KEEP_OUTPUT_BYTES, job->output_bytes);
	fields_put_u64(&writer, KEEP_EXECUTOR_UID, RIG_EXECUTOR_UID);
	fields_put_u64(&writer, KEEP_INIT_PID, (uint64_t)init);
	fields_put_u64(&writer, KEEP_AUDIT_LOSS, 0);
	fields_put_u64(&writer, KEEP_IDLE_MS, job->idle_ms);
	fields_put_u64(&writer, KEEP_CPU_SECONDS, job->cpu_seconds);
	fields_put_u64(&writer, KEEP_FILE_BYTES, job->file_bytes);
	fd = need(fields_seal(&writer, "orders"), "orders");
	fields_free(&writer);
	return fd;
}

/* A file of the job's cgroup, or /dev/null where there is none. */
static int
open_cgroup(const struct rig *rig, const char *name, int flags)
{
	char path[256];

	if (rig->cgroup[0] == '\0' || !text_format(path, sizeof(path), "%s/%s", rig->cgroup, name))
		return need(open("/dev/null", O_RDWR | O_CLOEXEC), "/dev/null");
	return need(open(path, flags | O_CLOEXEC), path);
}

static void
enter_cgroup(const struct rig *rig)
{
	int fd = open_cgroup(rig, "cgroup.procs", O_WRONLY);

	need((int)write(fd, "0", 1), "cgroup.procs");
	close(fd);
}

/* To where the keeper expects them.  All are moved out of the way first, as the program was. */
static void
place_descriptors(int fds[KEEPER_FD_COUNT])
{
	for (int i = KEEPER_ORDERS_FD; i < KEEPER_FD_COUNT; i++)
		fds[i] = need(fcntl(fds[i], F_DUPFD_CLOEXEC, 100), "dup");
	for (int i = KEEPER_ORDERS_FD; i < KEEPER_FD_COUNT; i++)
		need(dup2(fds[i], i), "dup2");
}

static int
open_keeper(void)
{
	const char *build = getenv("BUILD_DIR");
	char path[4096];

	text_format(path, sizeof(path), "%s/agent-safe-keeper", build ? build : "build");
	return need(fcntl(need(open(path, O_RDONLY | O_CLOEXEC), path), F_DUPFD_CLOEXEC, 100), "dup");
}

static void
become_keeper(int program_fd)
{
	char *const argv[] = { (char[]){ "agent-safe-keeper" }, NULL }, *const envp[] = { NULL };

	for (int number = 0; prctl(PR_CAPBSET_DROP, number, 0, 0, 0) == 0; number++)
		;
	need(setresgid(RIG_INIT_UID, RIG_INIT_UID, RIG_INIT_UID), "setresgid");
	need(setresuid(RIG_INIT_UID, RIG_INIT_UID, RIG_INIT_UID), "setresuid");
	syscall(SYS_execveat, program_fd, "", argv, envp, AT_EMPTY_PATH);
	give_up("exec keeper");
}

/* Makes init, tells its number, becomes the keeper. */
_Noreturn static void
midwife(struct rig *rig, const struct rig_job *job, int executor_fd, int tell_fd)
{
	int fds[KEEPER_FD_COUNT], out[2], err[2], control[2], program_fd = open_keeper();
	pid_t init;

	current = NULL;
	need(setgroups(0, NULL), "setgroups");
	need(pipe2(out, O_CLOEXEC), "pipe");
	need(pipe2(err, O_CLOEXEC), "pipe");
	need(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control), "socketpair");
	need(fchown(out[1], RIG_INIT_UID, RIG_INIT_UID), "fchown");
	if (job->pipe_bytes)
		need(fcntl(out[0], F_SETPIPE_SZ, job->pipe_bytes), "pipe size");
	need(unshare(CLONE_NEWPID), "pid namespace");
	init = need(fork(), "fork");
	if (init == 0) {
		if (rig->cgroup[0])
			enter_cgroup(rig);
		keeper_init(job, control[1], out[1], err[1]);
	}
	need((int)write(tell_fd, &init, sizeof(init)), "tell");
	fds[KEEPER_ORDERS_FD] = write_orders(job, init);
	fds[KEEPER_EXECUTOR_FD] = executor_fd;
	fds[KEEPER_INIT_FD] = control[0];
	fds[KEEPER_OUT_FD] = out[0];
	fds[KEEPER_ERR_FD] = err[0];
	fds[KEEPER_FOLDER_FD] = rig->folder_fd;
	fds[KEEPER_INIT_PIDFD] = need((int)syscall(SYS_pidfd_open, init, 0), "pidfd");
	fds[KEEPER_CGROUP_KILL_FD] = open_cgroup(rig, "cgroup.kill", O_WRONLY);
	fds[KEEPER_CGROUP_EVENTS_FD] = open_cgroup(rig, "cgroup.events", O_RDONLY);
	fds[KEEPER_CGROUP_FREEZE_FD] = fds[KEEPER_AUDITOR_FD] = need(open("/dev/null", O_RDWR), "/dev/null");
	fds[KEEPER_PIDS_EVENTS_FD] = fds[KEEPER_MEMORY_EVENTS_FD] = fds[KEEPER_MEMORY_PEAK_FD] =
	    need(open("/dev/null", O_RDWR), "/dev/null");
	fds[KEEPER_FILTERS_FD] = job->filters > 0 ? job->filters : need(open("/dev/null", O_RDWR), "/dev/null");
	place_descriptors(fds);
	become_keeper(program_fd);
	_exit(1);
}

/* The executor's mark, which a keeper locks. */
static void
make_mark(int folder)
{
	int fd = need(openat(folder, KEEP_BEGUN, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640), KEEP_BEGUN);

	need(fchown(fd, RIG_INIT_UID, RIG_INIT_UID), KEEP_BEGUN);
	close(fd);
}

static void
make_folder(struct rig *rig, const struct rig_job *job)
{
	text_copy(rig->folder, sizeof(rig->folder), "/tmp/keeper-rig-XXXXXX");
	if (!mkdtemp(rig->folder))
		give_up("folder");
	if (job->tmpfs) {
		/* The program unshared its mount namespace: nobody else sees this. */
		need(mount("tmpfs", rig->folder, "tmpfs", MS_NOSUID | MS_NODEV, job->tmpfs), "tmpfs");
		rig->mounted = true;
	}
	need(chown(rig->folder, RIG_INIT_UID, RIG_INIT_UID), "chown");
	rig->folder_fd = need(open(rig->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rig->folder);
	make_mark(rig->folder_fd);
	if (job->prepare)
		job->prepare(rig->folder_fd);
}

static void
make_cgroup(struct rig *rig)
{
	static const char *const roots[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	char path[256];

	for (size_t i = 0; i < 2; i++) {
		text_format(rig->cgroup, sizeof(rig->cgroup), "%s/agent-safe-keeper-rig-%d", roots[i], getpid());
		if (mkdir(rig->cgroup, 0755) < 0)
			continue;
		text_format(path, sizeof(path), "%s/cgroup.kill", rig->cgroup);
		if (access(path, W_OK) == 0)
			return;
		rmdir(rig->cgroup);
	}
	rig->cgroup[0] = '\0';
}

void
rig_start(struct rig *rig, const struct rig_job *job)
{
	int pair[2], tell[2];

	*rig = (struct rig){ .folder_fd = -1, .keeper_pidfd = -1, .init_pidfd = -1 };
	current = rig;
	make_folder(rig, job);
	if (job->with_cgroup)
		make_cgroup(rig);
	need(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), "socketpair");
	need(pipe2(tell, O_CLOEXEC), "pipe");
	rig->keeper = need(fork(), "fork");
	if (rig->keeper == 0)
		midwife(rig, job, pair[1], tell[1]);
	close(pair[1]);
	close(tell[1]);
	rig->executor = (struct channel){ pair[0], PROCESS_EXECUTOR, PROCESS_KEEPER };
	rig->keeper_pidfd = need((int)syscall(SYS_pidfd_open, rig->keeper, 0), "pidfd");
	if (read(tell[0], &rig->init, sizeof(rig->init)) != sizeof(rig->init))
		give_up("no init");
	rig->init_pidfd = (int)syscall(SYS_pidfd_open, rig->init, 0); /* -1: it is gone already */
	close(tell[0]);
}

bool
rig_ends_within(int pidfd, int milliseconds)
{
	struct pollfd poll_fd = { .fd = pidfd, .events = POLLIN };

	return pidfd < 0 || poll(&poll_fd, 1, milliseconds) == 1;
}

static void
close_all(const int *fds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

void
rig_clean(struct rig *rig)
{
	static const char *const names[] = { "begun", "keeper.sock", "out", "err", "denied", "result", "result.new", "fill" };

	if (rig->keeper > 0) {
		kill(rig->keeper, SIGKILL);
		waitpid(rig->keeper, NULL, 0);
	}
	if (rig->init_pidfd >= 0)
		syscall(SYS_pidfd_send_signal, rig->init_pidfd, SIGKILL, NULL, 0);
	rig_ends_within(rig->init_pidfd, RIG_WAIT_MS);
	for (size_t i = 0; rig->folder_fd >= 0 && i < sizeof(names) / sizeof(names[0]); i++)
		unlinkat(rig->folder_fd, names[i], 0);
	close_all((int[]){ rig->folder_fd, rig->keeper_pidfd, rig->init_pidfd, rig->executor.fd }, 4);
	if (rig->mounted)
		umount2(rig->folder, MNT_DETACH);
	rmdir(rig->folder);
	if (rig->cgroup[0])
		for (int tries = 0; rmdir(rig->cgroup) < 0 && errno == EBUSY && tries < 100; tries++)
			usleep(10000);
	current = NULL;
	*rig = (struct rig){ .folder_fd = -1, .keeper_pidfd = -1, .init_pidfd = -1, .executor.fd = -1 };
}

enum message_type
rig_hear(struct rig *rig, struct message *message)
{
	struct pollfd poll_fd = { .fd = rig->executor.fd, .events = POLLIN };
	const char *why = "?";

	for (;;) {
		errno = ETIMEDOUT;
		if (poll(&poll_fd, 1, RIG_WAIT_MS) != 1)
			give_up("the keeper says nothing");
		switch (channel_take(&rig->executor, message, &why)) {
		case CHANNEL_MESSAGE:
			return message->type;
		case CHANNEL_CLOSED:
			return MSG_NONE;
		case CHANNEL_BREACH:
			give_up(why);
		case CHANNEL_EMPTY:
			break;
		}
	}
}

struct message
rig_expect(struct rig *rig, enum message_type type)
{
	struct message message = { 0 };

	if (rig_hear(rig, &message) != type) {
		printf("# expected %s, heard %s\n", message_rules[type].name,
		    message.type == MSG_NONE ? "the end" : message_rules[message.type].name);
		errno = EPROTO;
		give_up("wrong message");
	}
	return message;
}

void
rig_send_stop(struct rig *rig)
{
	struct message message = { .type = MSG_JOB_STOP };

	message.body.job_stop.reason = STOP_CANCEL;
	need(channel_send(&rig->executor, &message), "send stop");
}

void
rig_reconnect(struct rig *rig, uid_t uid)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = need(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), "socket");

	text_format(address.sun_path, sizeof(address.sun_path), "%s/keeper.sock", rig->folder);
	if (rig->executor.fd >= 0)
		close(rig->executor.fd);
	need(chmod(rig->folder, 0711), "chmod");
	need(seteuid(uid), "seteuid");
	need(connect(fd, (struct sockaddr *)&address, sizeof(address)), "connect");
	need(seteuid(0), "seteuid");
	rig->executor.fd = fd;
}

int
rig_wait_keeper(struct rig *rig)
{
	int status = -1;

	errno = ETIMEDOUT;
	if (!rig_ends_within(rig->keeper_pidfd, RIG_WAIT_MS))
		give_up("the keeper does not end");
	waitpid(rig->keeper, &status, 0);
	rig->keeper = 0;
	return status;
}

size_t
rig_file(struct rig *rig, const char *name, char *bytes, size_t size)
{
	int fd = openat(rig->folder_fd, name, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? 0 : pread(fd, bytes, size - 1, 0);

	if (fd >= 0)
		close(fd);
	bytes[length < 0 ? 0 : length] = '\0';
	return length < 0 ? 0 : (size_t)length;
}

bool
rig_result(struct rig *rig, struct run_result *result)
{
	char bytes[sizeof(*result) + 2];
	size_t length = rig_file(rig, KEEP_RESULT, bytes, sizeof(bytes));

	memcpy(result, bytes, sizeof(*result));
	return length == sizeof(*result) && memcmp(result->magic, RUN_RESULT_MAGIC, 8) == 0 &&
	    memcmp(&result->run, &rig_run_name, sizeof(rig_run_name)) == 0;
}

struct run_end
rig_run(struct rig *rig, const struct rig_job *job)
{
	struct run_result result;
	struct message message;

	rig_start(rig, job);
	rig_expect(rig, MSG_JOB_BEGUN);
	message = rig_expect(rig, MSG_JOB_ENDED);
	errno = EPROTO;
	if (rig_wait_keeper(rig) != 0)
		give_up("the keeper failed");
	if (!rig_result(rig, &result) || memcmp(&result.end, &message.body.job_ended.end, sizeof(result.end)) != 0)
		give_up("the result is not what was told");
	return result.end;
}

uint64_t
rig_keeper_status(struct rig *rig, const char *name, int base)
{
	char path[64], line[256];
	uint64_t value = UINT64_MAX;
	FILE *file;

	text_format(path, sizeof(path), "/proc/%d/status", rig->keeper);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, name, strlen(name)) == 0)
			value = strtoull(line + strlen(name), NULL, base);
	if (file)
		fclose(file);
	return value;
}
