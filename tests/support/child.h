#ifndef CHILD_H
#define CHILD_H

/*
 * For tests of what a process cannot undo: run it in a forked child.  And a
 * seccomp filter that makes one system call fail, or claim success without effect.
 */
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

enum { CHILD_ENDED_SILENTLY = 90 };

/* Wait status of a child that ran body(argument) without standard error; exit code 90 when body returned. */
static inline int
child_run(void (*body)(void *), void *argument)
{
	int status = -1;
	pid_t child = fork();

	if (child == 0) {
		int null = open("/dev/null", O_WRONLY);

		dup2(null, STDERR_FILENO);
		close(null);
		body(argument);
		syscall(SYS_exit_group, CHILD_ENDED_SILENTLY);
	}
	waitpid(child, &status, 0);
	return status;
}

/* Did it run to its end?  Did fatal() end it?  Did the filter kill it? */
static inline int
child_finished(int status)
{
	return WIFEXITED(status) && WEXITSTATUS(status) == CHILD_ENDED_SILENTLY;
}

static inline int
child_died_by_fatal(int status)
{
	return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

static inline int
child_killed_by_filter(int status)
{
	return WIFSIGNALED(status) && WTERMSIG(status) == 31; /* SIGSYS */
}

#define CHILD_ANY_ARGUMENT UINT32_MAX

/*
 * From here on call `number` with that first argument gives `error`; 0: it
 * claims success and does nothing.  Root needs no no_new_privs for it, so that
 * no_new_privs itself can be tested.
 */
static inline void
child_break_call(int number, uint32_t first, int error)
{
	struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
		BPF_JUMP(BPF_JMP | (first == CHILD_ANY_ARGUMENT ? BPF_JGE : BPF_JEQ) | BPF_K,
		    first == CHILD_ANY_ARGUMENT ? 0 : first, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = 6, .filter = steps };

	if (geteuid() != 0)
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
		syscall(SYS_exit_group, 91);
}

#endif
