/* The three, and the courier where there is one: each its descriptors, its uid, its program. */
#include <sys/socket.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "become.h"
#include "cage.h"
#include "record.h"
#include "refuse.h"
#include "scope.h"
#include "text.h"
#include "trio.h"

#define MOST_FDS 9

/* The channels between them; [0] is the side of the one named first. */
struct channels {
	int broker_executor[2], broker_auditor[2], executor_auditor[2];
	int auditor_courier[2]; /* -1: there is no courier */
	int life[2]; /* a pipe: read end for the executor's keepers, write end for the auditor */
};

struct daemon {
	const char *name;
	enum program program;
	struct identity identity;
	int fds[MOST_FDS]; /* at 3, 4, ... */
	unsigned fd_count;
};

static void
open_channels(struct channels *channels, bool has_courier)
{
	int type = SOCK_SEQPACKET | SOCK_CLOEXEC;

	channels->auditor_courier[0] = channels->auditor_courier[1] = -1;
	if (socketpair(AF_UNIX, type, 0, channels->broker_executor) < 0 ||
	    socketpair(AF_UNIX, type, 0, channels->broker_auditor) < 0 ||
	    socketpair(AF_UNIX, type, 0, channels->executor_auditor) < 0 ||
	    (has_courier && socketpair(AF_UNIX, type, 0, channels->auditor_courier) < 0) ||
	    pipe2(channels->life, O_CLOEXEC) < 0)
		refuse_start("internal_error", "socketpair: %s", strerror(errno));
}

static void
close_channels(const struct channels *channels)
{
	for (int side = 0; side < 2; side++) {
		close(channels->broker_executor[side]);
		close(channels->broker_auditor[side]);
		close(channels->executor_auditor[side]);
		if (channels->auditor_courier[side] >= 0)
			close(channels->auditor_courier[side]);
		close(channels->life[side]);
	}
}

static _Noreturn void
run_child(const struct launch *launch, const struct daemon *daemon, int report_fd, int sync_fd)
{
	const char *const argv[] = { daemon->name, NULL };
	const struct become become = {
		.program_fd = launch->programs[daemon->program],
		.argv = argv,
		.standard = { STDIN_FILENO, STDIN_FILENO, launch->daemon_stderr }, /* 0 is /dev/null */
		.fds = daemon->fds,
		.fd_count = daemon->fd_count,
	};

	become_report_to(report_fd);
	if (daemon->program == PROGRAM_EXECUTOR)
		cage_enter(launch, sync_fd);
	else
		become_somebody(daemon->identity);
	become_program(&become);
}

/* Wait until exec has closed the report, or end with what the child reported. */
static void
await_exec(const struct daemon *daemon, int report_fd)
{
	char text[512];
	size_t length = 0;
	ssize_t got;

	while (length < sizeof(text) - 1 &&
	    (got = read(report_fd, text + length, sizeof(text) - 1 - length)) > 0)
		length += (size_t)got;
	text[length] = '\0';
	if (length > 0)
		refuse_start(daemon->program == PROGRAM_EXECUTOR ? "cage_unavailable" : "internal_error",
		    "%s cannot start: %s", daemon->name, text);
}

static pid_t
start_daemon(const struct launch *launch, const struct daemon *daemon)
{
	int report[2], sync[2];
	bool mapped = true;
	pid_t pid;

	if (pipe2(report, O_CLOEXEC) < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sync) < 0)
		refuse_start("internal_error", "pipe: %s", strerror(errno));
	pid = fork();
	if (pid < 0)
		refuse_start("internal_error", "fork: %s", strerror(errno));
	if (pid == 0) {
		close(sync[0]);
		run_child(launch, daemon, report[1], sync[1]);
	}
	refuse_undo_process(pid);
	close(report[1]);
	close(sync[1]);
	if (launch->root && daemon->program == PROGRAM_EXECUTOR)
		mapped = cage_write_maps(launch, pid, sync[0]);
	if (!mapped && errno != EPIPE)
		refuse_start("cage_unavailable", "the executor's id maps: %s", strerror(errno));
	close(sync[0]);
	await_exec(daemon, report[0]);
	close(report[0]);
	return pid;
}

static pid_t
start_auditor(struct launch *launch, const struct channels *channels)
{
	scoped_close int boot_fd = record_make(launch, 0, 0, 0);
	const int courier = channels->auditor_courier[0];
	const struct daemon auditor = {
		"agent-safe-auditor", PROGRAM_AUDITOR, launch->auditor,
		{ boot_fd, channels->broker_auditor[1], channels->executor_auditor[1],
		    launch->audit_log_fd, launch->audit_key_fd, launch->lock_fd, channels->life[1],
		    courier < 0 ? STDIN_FILENO : courier }, 8,
	};

	return start_daemon(launch, &auditor);
}

static pid_t
start_executor(struct launch *launch, const struct channels *channels)
{
	scoped_close int boot_fd = record_make(launch, 0, 0, 0);
	const struct daemon executor = {
		"agent-safe-executor", PROGRAM_EXECUTOR, launch->executor,
		{ boot_fd, channels->broker_executor[1], channels->executor_auditor[0], launch->runs_fd,
		    launch->programs[PROGRAM_KEEPER], launch->jobs_fd, launch->lock_fd, channels->life[0] }, 8,
	};

	return start_daemon(launch, &executor);
}

/* Not one of the three: when it ends, they go on, and the auditor reports it. */
static pid_t
start_courier(struct launch *launch, const struct channels *channels)
{
	scoped_close int boot_fd = record_make(launch, 0, 0, 0);
	const struct daemon courier = {
		"agent-safe-courier", PROGRAM_COURIER, launch->courier,
		{ boot_fd, channels->auditor_courier[1], launch->courier_home_fd }, 3,
	};

	return channels->auditor_courier[1] < 0 ? 0 : start_daemon(launch, &courier);
}

static pid_t
start_broker(struct launch *launch, const struct channels *channels, const pid_t pids[3])
{
	scoped_close int boot_fd = record_make(launch, pids[0], pids[1], pids[2]);
	const struct daemon broker = {
		"agent-safe-broker", PROGRAM_BROKER, launch->broker,
		{ boot_fd, channels->broker_executor[0], channels->broker_auditor[0], launch->propose_fd,
		    launch->control_fd, launch->broker_state_fd, launch->runs_fd, launch->policy_fd,
		    launch->lock_fd }, 9,
	};

	return start_daemon(launch, &broker);
}

/* The system's service is as alive as its broker: systemd cannot tell by what is left of its cgroup. */
static void
write_pid(const struct launch *launch, pid_t broker)
{
	char path[LIMIT_PATH], text[16];
	scoped_close int fd = -1;
	ssize_t length;

	if (launch->place.mode != MODE_SYSTEM)
		return;
	if (!text_format(path, sizeof(path), "%s/broker.pid", launch->place.runtime) ||
	    !text_format(text, sizeof(text), "%d\n", (int)broker))
		refuse_start("internal_error", "%s: too long", launch->place.runtime);
	length = (ssize_t)strlen(text);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0 || fchmod(fd, 0644) < 0 || write(fd, text, (size_t)length) != length)
		refuse_start("internal_error", "%s: %s", path, strerror(errno));
}

void
trio_start(struct launch *launch)
{
	struct channels channels;
	pid_t auditor, courier, executor, broker;

	open_channels(&channels, launch->courier_home_fd >= 0);
	auditor = start_auditor(launch, &channels);
	courier = start_courier(launch, &channels);
	executor = start_executor(launch, &channels);
	broker = start_broker(launch, &channels, (const pid_t[3]){ executor, auditor, courier });
	close_channels(&channels);
	ready_wait(launch, (const pid_t[3]){ auditor, executor, broker });
	write_pid(launch, broker);
}

_Static_assert(BROKER_EXECUTOR_FD == 4 && BROKER_AUDITOR_FD == 5 && BROKER_PROPOSE_FD == 6 &&
    BROKER_CONTROL_FD == 7 && BROKER_STATE_FD == 8 && BROKER_RUNS_FD == 9 &&
    BROKER_POLICY_FD == 10 && BROKER_LOCK_FD == 11, "the order of fds in start_broker()");
_Static_assert(EXECUTOR_BROKER_FD == 4 && EXECUTOR_AUDITOR_FD == 5 && EXECUTOR_RUNS_FD == 6 &&
    EXECUTOR_KEEPER_FD == 7 && EXECUTOR_CGROUP_FD == 8 && EXECUTOR_LOCK_FD == 9 &&
    EXECUTOR_LIFE_FD == 10,
    "the order of fds in start_executor()");
_Static_assert(AUDITOR_BROKER_FD == 4 && AUDITOR_EXECUTOR_FD == 5 && AUDITOR_LOG_FD == 6 &&
    AUDITOR_KEY_FD == 7 && AUDITOR_LOCK_FD == 8 && AUDITOR_LIFE_FD == 9 && AUDITOR_COURIER_FD == 10,
    "the order of fds in start_auditor()");
_Static_assert(COURIER_AUDITOR_FD == 4 && COURIER_HOME_FD == 5, "the order of fds in start_courier()");
