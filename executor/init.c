/* Pid 1 of a job: async-signal-safe calls only. */
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "channel.h"
#include "fields.h"

#include "filter.h"
#include "init.h"
#include "leave.h"
#include "network.h"
#include "worker.h"

/* of REAP_WAIT_MS: what does not die in this time, the end of the namespace takes */
#define REAP_ROUNDS 100
#define REAP_WAIT_MS 20

struct init {
	struct cage *cage;
	struct channel keeper;
	int errors;  /* the worker's error pipe; -1: executed */
	int signals; /* signalfd of SIGCHLD */
	pid_t worker;
	bool ended, alone;
	int status;
	uint32_t leftovers;
};

static void
tell(const struct init *init, const struct message *message)
{
	if (channel_send(&init->keeper, message) < 0)
		_exit(1);
}

static _Noreturn void
fail(const struct init *init, uint32_t stage, int error)
{
	struct message message = { .type = MSG_INIT_FAILED };

	message.body.init_failed = (struct msg_init_failed){ stage, error };
	tell(init, &message);
	_exit(1);
}

/* Close all from 3 up but these few. */
static void
keep_only(const int *wanted, size_t count)
{
	unsigned from = 3;

	for (;;) {
		unsigned next = ~0u;

		for (size_t i = 0; i < count; i++)
			if (wanted[i] >= (int)from && (unsigned)wanted[i] < next)
				next = (unsigned)wanted[i];
		if (next > from)
			syscall(SYS_close_range, from, next == ~0u ? ~0u : next - 1, 0);
		if (next == ~0u)
			return;
		from = next + 1;
	}
}

/*
 * Standard input is what the plan says, in a file in memory that nobody can change and that reads
 * from its begin; else the cage's own empty device: one of the host could not be opened again in here.
 */
static int
open_input(const struct plan *plan)
{
	int fd;

	if (!plan->input)
		return open("/dev/null", O_RDONLY | O_CLOEXEC);
	fd = sealed_make("stdin", plan->input, plan->input_length);
	return fd >= 0 && lseek(fd, 0, SEEK_SET) < 0 ? -1 : fd;
}

static int
set_standard(const struct cage *cage)
{
	int input = open_input(cage->plan);

	if (input < 0)
		return -1;
	return dup2(input, 0) < 0 || dup2(cage->out, 1) < 0 || dup2(cage->err, 2) < 0 ? -1 : 0;
}

static void
build(struct init *init)
{
	struct cage *cage = init->cage;
	int wanted[7 + PLACES_MOST] = { cage->control, cage->out, cage->err, cage->passwd,
		cage->group, cage->program.tree, cage->interpreter.tree };
	const int left[] = { cage->control };
	uint32_t stage;

	for (unsigned i = 0; i < cage->places.count; i++)
		wanted[7 + i] = cage->places.all[i].tree;
	keep_only(wanted, 7 + cage->places.count);
	if (leave_executor(cage) < 0)
		fail(init, STAGE_IDENTITY, errno);
	if (leave_host() < 0)
		fail(init, STAGE_NAMESPACE, errno);
	if (cage_mount(cage, &stage) < 0)
		fail(init, stage, errno);
	if (getpid() != 1 || cage_check_namespaces(cage->outside, cage->plan->network) < 0 ||
	    network_settle(cage->plan->network) < 0)
		fail(init, STAGE_NAMESPACE, errno);
	if (set_standard(cage) < 0)
		fail(init, STAGE_MOUNT, errno);
	keep_only(left, 1);
}

/* Until the keeper has given up what it had and watches, nothing of the job runs.  Its end is ours. */
static void
await_keeper(const struct init *init)
{
	struct pollfd ready = { .fd = init->keeper.fd, .events = POLLIN };
	enum channel_got got = CHANNEL_EMPTY;
	struct message message;

	while (got == CHANNEL_EMPTY) {
		if (poll(&ready, 1, -1) < 0 && errno != EINTR)
			_exit(1);
		got = channel_take(&init->keeper, &message, NULL);
	}
	if (got != CHANNEL_MESSAGE || message.type != MSG_INIT_BEGIN)
		_exit(1);
}

static void
start_worker(struct init *init)
{
	int pipes[2];

	if (pipe2(pipes, O_CLOEXEC) < 0)
		fail(init, STAGE_KEEPER, errno);
	init->worker = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (init->worker < 0)
		fail(init, STAGE_KEEPER, errno);
	if (init->worker == 0) {
		if (init->cage->filters < 0) /* else it has something to send, see worker.c */
			close(init->keeper.fd);
		worker_run(init->cage, pipes[1]);
	}
	close(pipes[1]);
	init->errors = pipes[0];
	/* The outputs are the job's alone: their end is its end. */
	close(0);
	close(1);
	close(2);
}

/* From here on: KILL in our namespace, to forward signals to another uid; twelve system calls. */
static void
confine(struct init *init)
{
	const uint64_t kept = 1u << CAP_KILL;
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { .effective = kept, .permitted = kept }, { 0 } };
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &mask, NULL) < 0)
		fail(init, STAGE_KEEPER, errno);
	init->signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (init->signals < 0)
		fail(init, STAGE_KEEPER, errno);
	if (syscall(SYS_capset, &header, data) < 0 || syscall(SYS_capget, &header, data) < 0 ||
	    data[0].permitted != kept || data[0].effective != kept || data[0].inheritable ||
	    data[1].permitted)
		fail(init, STAGE_IDENTITY, errno ? errno : EPERM);
	if (filter_load_init() < 0)
		fail(init, STAGE_SECCOMP, errno);
}

/* The error pipe: a failure, or its end, which is the exec. */
static void
on_errors(struct init *init)
{
	struct message message = { .type = MSG_INIT_STARTED };
	struct worker_failure failure;
	ssize_t length = read(init->errors, &failure, sizeof(failure));

	if (length == (ssize_t)sizeof(failure))
		fail(init, failure.stage, failure.error);
	if (length != 0)
		fail(init, STAGE_EXEC, EPROTO);
	close(init->errors);
	init->errors = -1;
	message.body.init_started.layers = init->cage->layers;
	tell(init, &message);
}

/* Reap what is dead; how many that were not the worker.  init->alone: nobody is left in here. */
static uint32_t
reap(struct init *init)
{
	uint32_t others = 0;
	int status;
	pid_t pid;

	while ((pid = (pid_t)syscall(SYS_wait4, -1, &status, WNOHANG, NULL)) > 0) {
		if (pid == init->worker) {
			init->ended = true;
			init->status = status;
		} else
			others++;
	}
	init->alone = pid < 0 && errno == ECHILD; /* who loses its parent becomes our child */
	return others;
}

/* Kill what is left, count it, and wait for its end within reason. */
static void
clear(struct init *init)
{
	struct pollfd ready = { .fd = init->signals, .events = POLLIN };
	struct signalfd_siginfo info;

	if (init->alone || kill(-1, SIGKILL) < 0) /* which looks at every process of the host */
		return; /* ESRCH: nobody is left */
	for (unsigned round = 0; round < REAP_ROUNDS; round++) {
		init->leftovers += reap(init);
		if (kill(-1, 0) < 0)
			return;
		if (poll(&ready, 1, REAP_WAIT_MS) > 0)
			while (read(init->signals, &info, sizeof(info)) > 0)
				;
	}
}

static _Noreturn void
report_end(struct init *init)
{
	struct message message = { .type = MSG_INIT_ENDED };
	struct rusage usage = { 0 };

	clear(init);
	getrusage(RUSAGE_CHILDREN, &usage);
	message.body.init_ended = (struct msg_init_ended){
		.status = init->status,
		.leftovers = init->leftovers,
		.user_us =
		    (uint64_t)usage.ru_utime.tv_sec * 1000000 + (uint64_t)usage.ru_utime.tv_usec,
		.system_us =
		    (uint64_t)usage.ru_stime.tv_sec * 1000000 + (uint64_t)usage.ru_stime.tv_usec,
		.max_rss_kb = (uint64_t)usage.ru_maxrss,
	};
	tell(init, &message);
	_exit(0);
}

/* To the worker's whole group: a shell that waits for its child would not hear it alone. */
static void
forward(const struct init *init, int number)
{
	if (number == SIGSTOP || number == SIGCONT) {
		kill(-1, number); /* all but ourselves; ESRCH: nobody is left */
		return;
	}
	if (init->ended)
		return;
	if (kill(-init->worker, number) < 0 && errno == ESRCH)
		kill(init->worker, number); /* it has not come to its setsid() yet */
}

static void
on_keeper(struct init *init)
{
	struct message message;

	switch (channel_take(&init->keeper, &message, NULL)) {
	case CHANNEL_MESSAGE:
		if (message.type != MSG_INIT_SIGNAL) /* begun already */
			_exit(1);
		forward(init, message.body.init_signal.signal);
		break;
	case CHANNEL_EMPTY:
		break;
	case CHANNEL_CLOSED:
	case CHANNEL_BREACH:
		_exit(1);
	}
}

static void
on_signals(struct init *init)
{
	struct signalfd_siginfo info;

	while (read(init->signals, &info, sizeof(info)) > 0)
		;
	reap(init);
}

void
init_run(struct cage *cage)
{
	struct init init = { .cage = cage,
		.keeper = { cage->control, PROCESS_INIT, PROCESS_KEEPER } };

	build(&init);
	await_keeper(&init);
	start_worker(&init);
	confine(&init);
	reap(&init); /* a worker that was quicker than our signalfd: its SIGCHLD came to nobody */
	for (;;) {
		struct pollfd ready[] = { { .fd = init.keeper.fd, .events = POLLIN },
			{ .fd = init.signals, .events = POLLIN },
			{ .fd = init.errors, .events = POLLIN } };

		if (poll(ready, 3, -1) < 0 && errno != EINTR)
			_exit(1);
		if (ready[0].revents)
			on_keeper(&init);
		if (ready[2].revents)
			on_errors(&init);
		if (ready[1].revents)
			on_signals(&init);
		if (init.ended && init.errors < 0)
			report_end(&init);
	}
}
