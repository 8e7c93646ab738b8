/*
 * Kills a process at a named point of its life: before or after its N-th call of one system call.
 * Nothing in the victim knows of it (ptrace); it needs root.
 *
 *   stepkill PID CALL N before|after SECONDS
 *
 * Says "armed" when the victim is watched, and ends with 0: killed there; 1: it ended before, or was
 * not there; 2: the time was over, it runs on.
 */
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <errno.h>
#include <linux/ptrace.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KILLED, GONE, LATE, USAGE };

static const struct { const char *name; long number; } calls[] = {
	{ "fdatasync", SYS_fdatasync }, { "fsync", SYS_fsync }, { "sendmsg", SYS_sendmsg },
	{ "recvmsg", SYS_recvmsg }, { "write", SYS_write }, { "pwrite64", SYS_pwrite64 },
	{ "openat", SYS_openat }, { "mkdirat", SYS_mkdirat }, { "renameat", SYS_renameat },
	{ "clone3", SYS_clone3 }, { "close", SYS_close }, { "unlinkat", SYS_unlinkat },
	{ "epoll_pwait", SYS_epoll_pwait }, { "ftruncate", SYS_ftruncate },
};

static long
number_of(const char *name)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strcmp(calls[i].name, name) == 0)
			return calls[i].number;
	return -1;
}

/* True: the victim has stopped at the begin (or the end) of a call with this number. */
static int
is_at(pid_t pid, long number, int after, long *inside)
{
	struct ptrace_syscall_info info;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) <= 0)
		return 0;
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
		*inside = (long)info.entry.nr;
		return !after && *inside == number;
	}
	return info.op == PTRACE_SYSCALL_INFO_EXIT && after && *inside == number;
}

/* Its own signals reach it; group stops do not happen to these processes. */
static int
signal_to_pass(int status)
{
	int signal = WSTOPSIG(status);

	return status >> 16 || signal == (SIGTRAP | 0x80) ? 0 : signal;
}

static int
step(pid_t pid, long number, long count, int after)
{
	long inside = -1;
	int status;

	while (waitpid(pid, &status, __WALL) == pid) {
		if (WIFEXITED(status) || WIFSIGNALED(status))
			return GONE;
		if (WSTOPSIG(status) == (SIGTRAP | 0x80) && is_at(pid, number, after, &inside) &&
		    --count == 0)
			return kill(pid, SIGKILL) == 0 ? KILLED : GONE;
		if (ptrace(PTRACE_SYSCALL, pid, 0, signal_to_pass(status)) < 0 && errno != ESRCH)
			return GONE;
	}
	return GONE;
}

/* Our own end lets the victim go. */
static void
on_alarm(int signal)
{
	(void)signal;
	_exit(LATE);
}

int
main(int argc, char **argv)
{
	pid_t pid = argc == 6 ? (pid_t)atol(argv[1]) : 0;
	long number = argc == 6 ? number_of(argv[2]) : -1;

	if (pid <= 1 || number < 0) {
		fprintf(stderr, "usage: stepkill PID CALL N before|after SECONDS\n");
		return USAGE;
	}
	signal(SIGALRM, on_alarm);
	alarm((unsigned)atol(argv[5]));
	if (ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACESYSGOOD) < 0 ||
	    ptrace(PTRACE_INTERRUPT, pid, 0, 0) < 0)
		return GONE;
	printf("armed\n");
	fflush(stdout);
	return step(pid, number, atol(argv[3]), strcmp(argv[4], "after") == 0);
}
