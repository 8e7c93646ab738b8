/* Processes and resources: 57, 60, 62, 67-69. */
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "probe.h"

#define PROCESSES_MOST 2500 /* ten times what the tests allow */
#define DESCRIPTORS_MOST (1 << 20)

/* A flat one: the tree of a real bomb meets the same bound, only faster. */
static int
make_processes(void)
{
	int result = WORKED, made = 0;

	setpgid(0, 0);
	while (made < PROCESSES_MOST && result == WORKED) {
		pid_t child = fork();

		if (child == 0) {
			pause();
			_exit(0);
		}
		result = probe_told(child);
		made += child > 0;
	}
	signal(SIGTERM, SIG_IGN);
	kill(0, SIGTERM);
	while (wait(NULL) > 0)
		;
	return result;
}

/* Of pid 1: KILL and STOP from inside have no effect, whoever sends them. */
static int
signal_victim(int number)
{
	int result = probe_told(kill(probe_targets.victim, number));

	if (result != WORKED || probe_targets.victim != 1)
		return result;
	usleep(200000);
	return kill(1, 0) == 0 ? HELD : WORKED;
}

static int
kill_victim(void)
{
	return signal_victim(SIGKILL);
}

static int
stop_victim(void)
{
	return signal_victim(SIGSTOP);
}

static int
queue_signal(void)
{
	int pidfd = (int)syscall(SYS_pidfd_open, probe_targets.victim, 0);

	if (pidfd < 0)
		return errno;
	if (syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0) < 0)
		return errno;
	if (probe_targets.victim != 1)
		return WORKED;
	usleep(200000);
	return kill(1, 0) == 0 || errno == EPERM ? HELD : WORKED;
}

static int
lock_memory(void)
{
	void *memory = mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NOT_HERE : probe_told(mlock(memory, 64 << 20));
}

/* Would a crash leave a core file? */
static int
leave_core(void)
{
	struct rlimit limit;
	int status;
	pid_t child;

	if (getrlimit(RLIMIT_CORE, &limit) < 0)
		return NOT_HERE;
	if (limit.rlim_max != 0)
		return WORKED;
	child = fork();
	if (child == 0)
		abort();
	waitpid(child, &status, 0);
	return WIFSIGNALED(status) && WCOREDUMP(status) ? WORKED : HELD;
}

static int
open_many(void)
{
	for (int i = 0; i < DESCRIPTORS_MOST; i++)
		if (dup(STDOUT_FILENO) < 0)
			return errno;
	return WORKED;
}

static int
be_important(void)
{
	return probe_told(setpriority(PRIO_PROCESS, 0, -20));
}

static int
be_real_time(void)
{
	const struct sched_param parameters = { .sched_priority = 1 };

	return probe_told(sched_setscheduler(0, SCHED_FIFO, &parameters));
}

static int
be_first_at_disk(void)
{
	return probe_told(syscall(SYS_ioprio_set, 1, 0, 1 << 13));
}

/* Off the list of what is ended first when memory is short. */
static int
escape_oom(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	return fd < 0 ? errno : probe_told(write(fd, "-1000", 5));
}

static const struct attempt list[] = {
	{ 57, "make processes without end", make_processes, { EAGAIN }, NULL, "would hurt this machine" },
	{ 60, "kill pid 1", kill_victim, { EPERM, HELD }, control_victim, NULL },
	{ 60, "stop pid 1", stop_victim, { EPERM, HELD }, control_victim, NULL },
	{ 60, "kill pid 1 by pidfd", queue_signal, { EPERM, HELD }, control_victim, NULL },
	{ 62, "lock 64 MiB of memory", lock_memory, { ENOMEM, EPERM, EAGAIN }, control_plain, NULL },
	{ 67, "leave a core file", leave_core, { HELD }, NULL, "this machine may write none either" },
	{ 68, "open a million descriptors", open_many, { EMFILE }, NULL, "this machine has a bound too" },
	{ 69, "nice -20", be_important, { EACCES, EPERM }, control_plain, NULL },
	{ 69, "real-time scheduling", be_real_time, { EPERM }, control_plain, NULL },
	{ 69, "real-time disk priority", be_first_at_disk, { EPERM }, control_plain, NULL },
	{ 69, "lower the own OOM score", escape_oom, { EACCES, EPERM, EROFS }, NULL, "root may lack CAP_SYS_RESOURCE" },
};

struct attempts
probe_process(void)
{
	return (struct attempts){ list, sizeof(list) / sizeof(list[0]) };
}
