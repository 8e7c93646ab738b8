/*
 * bare - what a cage could do without a user namespace, and so without mount and process namespaces of its own:
 * the reasons why there is none, tried.
 *
 *   bare try FILE FOLDER PID   as a job of such a cage, behind all that this kernel's Landlock has and without one
 *                              rule: FILE in FOLDER and process PID belong to its own uid; a line for each attempt,
 *                              "NAME done" or "NAME errno"; before them "abi N"
 *   bare orphan                a subreaper that is killed; prints the pids of its child, which has a death signal,
 *                              and of its grandchild
 *   bare modes COMMAND...      the command where modes and owners cannot be changed
 */
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "landlock.h"

static const char *file, *folder;
static pid_t process;

static void
die(const char *what)
{
	perror(what);
	_exit(99);
}

/* --- what Landlock holds: the controls ------------------------------------------ */

static int
read_file(void)
{
	return open(file, O_RDONLY | O_CLOEXEC);
}

static int
cut_file(void)
{
	return truncate(file, 0);
}

static int
remove_file(void)
{
	return unlink(file);
}

static int
signal_process(void)
{
	return kill(process, SIGCONT);
}

static int
read_environment(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)process);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* --- what it does not know ------------------------------------------------------- */

static int
open_file_to_all(void)
{
	return chmod(file, 0666);
}

static int
open_folder_to_all(void)
{
	return chmod(folder, 0777);
}

static int
change_times(void)
{
	return utimensat(AT_FDCWD, file, NULL, 0);
}

static int
set_attribute(void)
{
	return setxattr(file, "user.bare", "1", 1, 0);
}

static int
look_at_file(void)
{
	struct stat seen;

	return stat(file, &seen);
}

static int
watch_folder(void)
{
	return inotify_add_watch(inotify_init1(IN_CLOEXEC), folder, IN_ALL_EVENTS);
}

static int
share_memory(void)
{
	int memory = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);

	return memory < 0 ? -1 : shmctl(memory, IPC_RMID, NULL);
}

static int
limit_process(void)
{
	struct rlimit none = { 64, 64 };

	return prlimit(process, RLIMIT_NOFILE, &none, NULL);
}

static int
move_process(void)
{
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	return sched_setaffinity(process, sizeof(first), &first);
}

static int
slow_process(void)
{
	return setpriority(PRIO_PROCESS, (id_t)process, 19);
}

static const struct {
	const char *name;
	int (*attempt)(void);
} attempts[] = {
	{ "read-file", read_file }, { "cut-file", cut_file }, { "remove-file", remove_file },
	{ "signal-process", signal_process }, { "read-environment", read_environment },
	{ "look-at-file", look_at_file }, { "change-times", change_times }, { "set-attribute", set_attribute },
	{ "open-file-to-all", open_file_to_all }, { "watch-folder", watch_folder },
	{ "open-folder-to-all", open_folder_to_all }, { "share-memory", share_memory },
	{ "limit-process", limit_process }, { "move-process", move_process }, { "slow-process", slow_process },
};

/* Everything that this kernel knows, and nothing allowed. */
static void
close_all(void)
{
	int abi = landlock_abi(), ruleset;
	struct landlock_attr attr = {
		.handled_fs = landlock_fs_rights(abi),
		.handled_net = landlock_net_rights(abi),
		.scoped = landlock_scopes(abi),
	};

	ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, landlock_attr_size(abi), 0);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || ruleset < 0 ||
	    syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
		die("bare: landlock");
	close(ruleset);
}

static int
try_all(char **arguments)
{
	file = arguments[0];
	folder = arguments[1];
	process = (pid_t)strtol(arguments[2], NULL, 10);
	printf("abi %d\n", landlock_abi());
	fflush(stdout);
	close_all();
	for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++) {
		errno = 0;
		printf("%s %s\n", attempts[i].name, attempts[i].attempt() < 0 ? strerrorname_np(errno) : "done");
	}
	return 0;
}

/* A death signal comes from its parent, not from the subreaper; and it may clear its own. */
static _Noreturn void
be_grandchild(int ready_fd)
{
	pid_t own = getpid();

	setsid();
	alarm(60); /* whatever becomes of the test */
	if (write(ready_fd, &own, sizeof(own)) < 0 || close(ready_fd) < 0)
		_exit(99);
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	for (;;)
		pause();
}

static int
leave_orphan(void)
{
	int ready[2];
	pid_t child, grandchild;

	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0 || pipe2(ready, O_CLOEXEC) < 0)
		die("bare: subreaper");
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		if (fork() == 0)
			be_grandchild(ready[1]);
		for (;;)
			pause();
	}
	if (child < 0 || read(ready[0], &grandchild, sizeof(grandchild)) != sizeof(grandchild))
		die("bare: grandchild");
	printf("%d %d\n", (int)child, (int)grandchild);
	fflush(stdout);
	kill(getpid(), SIGKILL);
	return 99;
}

#define REFUSED(call) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), \
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

static int
run_without_modes(char **command)
{
	static struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
#ifdef SYS_chmod
		REFUSED(chmod),
#endif
		REFUSED(fchmod), REFUSED(fchmodat), REFUSED(fchownat), REFUSED(fchown),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 452 /* fchmodat2 */, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(steps) / sizeof(steps[0]), steps };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
		die("bare: seccomp");
	execvp(command[0], command);
	die(command[0]);
	return 99;
}

int
main(int argc, char **argv)
{
	if (argc == 5 && strcmp(argv[1], "try") == 0)
		return try_all(argv + 2);
	if (argc == 2 && strcmp(argv[1], "orphan") == 0)
		return leave_orphan();
	if (argc > 2 && strcmp(argv[1], "modes") == 0)
		return run_without_modes(argv + 2);
	fprintf(stderr, "usage: bare try FILE FOLDER PID | orphan | modes COMMAND...\n");
	return 2;
}
