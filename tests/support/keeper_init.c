/* Pid 1 of a job, without a cage. */
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "keeper_init.h"

/* What the stand-in says was in force: the rig only looks whether it arrives. */
#define LAYERS LAYER_PID_NAMESPACE
#define DESCRIPTORS 256 /* more than the rig has open */

static pid_t
start_worker(const struct rig_job *job, int control_fd, int out_fd, int err_fd)
{
	pid_t worker = fork();

	if (worker != 0)
		return worker;
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	dup2(out_fd, STDOUT_FILENO);
	dup2(err_fd, STDERR_FILENO);
	if (job->work)
		_exit(job->work(control_fd));
	execl("/bin/sh", "sh", "-c", job->script, (char *)NULL);
	_exit(127);
}

static void
say(const struct channel *keeper, const struct message *message)
{
	if (channel_send(keeper, message) < 0)
		_exit(1);
}

static void
say_ended(const struct channel *keeper, int status, const struct rusage *usage)
{
	struct message message = { .type = MSG_INIT_ENDED };

	message.body.init_ended.status = status;
	message.body.init_ended.leftovers = kill(-1, 0) == 0; /* somebody but us is alive */
	message.body.init_ended.user_us = (uint64_t)(usage->ru_utime.tv_sec * 1000000 + usage->ru_utime.tv_usec);
	message.body.init_ended.system_us = (uint64_t)(usage->ru_stime.tv_sec * 1000000 + usage->ru_stime.tv_usec);
	message.body.init_ended.max_rss_kb = (uint64_t)usage->ru_maxrss;
	say(keeper, &message);
}

/* The first word of the keeper; its end is ours. */
static void
await_begin(const struct channel *keeper)
{
	struct pollfd ready = { .fd = keeper->fd, .events = POLLIN };
	struct message message;

	if (poll(&ready, 1, -1) != 1 || channel_take(keeper, &message, NULL) != CHANNEL_MESSAGE ||
	    message.type != MSG_INIT_BEGIN)
		_exit(1);
}

/* Pass signals on to the worker's group; the keeper's end is ours. */
static void
hear(const struct channel *keeper, pid_t worker)
{
	struct message message;

	switch (channel_take(keeper, &message, NULL)) {
	case CHANNEL_MESSAGE:
		if (message.type == MSG_INIT_SIGNAL && kill(-worker, message.body.init_signal.signal) < 0)
			kill(worker, message.body.init_signal.signal); /* it has not come to its setsid() yet */
		break;
	case CHANNEL_EMPTY:
		break;
	default:
		_exit(1);
	}
}

/* Reap everything; when it is the worker, that was the job. */
static void
reap(const struct channel *keeper, int signal_fd, pid_t worker)
{
	struct signalfd_siginfo info;
	struct rusage usage;
	int status;
	pid_t pid;

	if (read(signal_fd, &info, sizeof(info)) != sizeof(info))
		return;
	while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0)
		if (pid == worker) {
			say_ended(keeper, status, &usage);
			_exit(0);
		}
}

/* As the real one: or our copies of the other ends would hide the keeper's death from us and the rig. */
static void
close_others(int control_fd, int out_fd, int err_fd)
{
	for (int fd = 3; fd < DESCRIPTORS; fd++)
		if (fd != control_fd && fd != out_fd && fd != err_fd)
			close(fd);
}

void
keeper_init(const struct rig_job *job, int control_fd, int out_fd, int err_fd)
{
	const struct channel keeper = { control_fd, PROCESS_INIT, PROCESS_KEEPER };
	struct message started = { .type = MSG_INIT_STARTED };
	struct pollfd fds[2] = { { .fd = control_fd, .events = POLLIN }, { .events = POLLIN } };
	sigset_t mask;
	pid_t worker;

	close_others(control_fd, out_fd, err_fd);
	if (setresgid(RIG_INIT_UID, RIG_INIT_UID, RIG_INIT_UID) < 0 ||
	    setresuid(RIG_INIT_UID, RIG_INIT_UID, RIG_INIT_UID) < 0)
		_exit(1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (job->init) {
		job->init(control_fd);
		_exit(1);
	}
	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	fds[1].fd = signalfd(-1, &mask, SFD_CLOEXEC);
	await_begin(&keeper);
	worker = start_worker(job, control_fd, out_fd, err_fd);
	close(out_fd);
	close(err_fd);
	started.body.init_started.layers = LAYERS;
	if (!job->work)
		say(&keeper, &started);
	while (poll(fds, 2, -1) >= 0) {
		if (fds[1].revents)
			reap(&keeper, fds[1].fd, worker);
		if (fds[0].revents)
			hear(&keeper, worker);
	}
	_exit(1);
}
