/* The attempts of a taken process: raw system calls, so that nothing but the attempt itself is refused. */
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "taken.h"

#define TARGETS_MOST 128
#define WAIT_TENTHS 100 /* for the targets */
#define SECONDS_MOST 10 /* for one attempt */
#define NOTHING -1      /* the attempt ended before it had an answer */

/* 0, or errno */
typedef int attack(const char *argument);

struct target {
	char name[24], argument[232];
};

static struct target targets[TARGETS_MOST];
static size_t target_count;

static int
told(long result)
{
	return result < 0 ? errno : 0;
}

static int
number(const char *text)
{
	return (int)strtol(text, NULL, 10);
}

static int
open_as(const char *path, int flags)
{
	return told(syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC | O_NONBLOCK, 0));
}

static int
read_file(const char *path)
{
	return open_as(path, O_RDONLY);
}

static int
write_file(const char *path)
{
	return open_as(path, O_WRONLY | O_APPEND);
}

static int
make_file(const char *directory)
{
	return open_as(directory, O_WRONLY | O_TMPFILE);
}

static int
empty_file(const char *path)
{
	return told(syscall(SYS_truncate, path, 0L));
}

static int
remove_file(const char *path)
{
	return told(syscall(SYS_unlinkat, AT_FDCWD, path, 0));
}

static int
become(const char *uid)
{
	long id = number(uid);

	return told(syscall(SYS_setresuid, id, id, id));
}

static int
join(const char *gid)
{
	long id = number(gid);

	return told(syscall(SYS_setresgid, id, id, id));
}

static int
gain(const char *capability)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };
	unsigned bit = (unsigned)number(capability);

	data[bit / 32].permitted = data[bit / 32].effective = 1u << bit % 32;
	return told(syscall(SYS_capset, &header, data));
}

static int
send_signal(const char *pid)
{
	return told(syscall(SYS_kill, number(pid), 0));
}

/* Ends with this process; the other one is not stopped by it. */
static int
trace(const char *pid)
{
	return told(syscall(SYS_ptrace, PTRACE_SEIZE, number(pid), NULL, NULL));
}

static int
open_memory(const char *pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", number(pid));
	return open_as(path, O_RDWR);
}

static int
take_descriptor(const char *pid)
{
	long pidfd = syscall(SYS_pidfd_open, number(pid), 0);

	return pidfd < 0 ? errno : told(syscall(SYS_pidfd_getfd, pidfd, 0, 0));
}

static int
enter_namespace(const char *pid)
{
	long pidfd = syscall(SYS_pidfd_open, number(pid), 0);

	return pidfd < 0 ? errno : told(syscall(SYS_setns, pidfd, CLONE_NEWNS));
}

static int
connect_path(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	long fd = syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0);

	memcpy(address.sun_path, path, strnlen(path, sizeof(address.sun_path) - 1));
	return fd < 0 ? errno : told(syscall(SYS_connect, fd, &address, sizeof(address)));
}

static int
connect_loopback(const char *port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)number(port)),
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	long fd = syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);

	return fd < 0 ? errno : told(syscall(SYS_connect, fd, &address, sizeof(address)));
}

/* Its success ends the process: run_apart() sees that. */
static int
execute(const char *path)
{
	char *argv[] = { (char *)(uintptr_t)path, NULL }, *envp[] = { NULL };

	return told(syscall(SYS_execve, path, argv, envp));
}

static int
make_process(const char *unused)
{
	long child = syscall(SYS_clone, (long)SIGCHLD, NULL, NULL, NULL, NULL);

	(void)unused;
	if (child == 0)
		_exit(0);
	return told(child);
}

static int
make_user_namespace(const char *unused)
{
	(void)unused;
	return told(syscall(SYS_unshare, CLONE_NEWUSER));
}

/* What shows the machine's devices, if it can be had. */
static int
mount_devices(const char *directory)
{
	return told(syscall(SYS_mount, "devtmpfs", directory, "devtmpfs", 0L, NULL));
}

static int
make_device(const char *directory)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/taken-device", directory);
	syscall(SYS_unlinkat, AT_FDCWD, path, 0);
	return told(syscall(SYS_mknodat, AT_FDCWD, path, S_IFBLK | 0600, 7L << 8));
}

/* Take away what covers a folder. */
static int
uncover(const char *directory)
{
	return told(syscall(SYS_umount2, directory, MNT_DETACH));
}

/* Something covers it, where the attempts must work. */
static void
cover(const char *directory)
{
	if (mount("tmpfs", directory, "tmpfs", 0, NULL) < 0)
		_exit(1);
}

static const struct {
	const char *name;
	attack *run;
	void (*prepare)(const char *argument); /* only where it must work */
} attempts[] = {
	{ "read", read_file, NULL }, /* PATH, also of a folder */
	{ "write", write_file, NULL },
	{ "make", make_file, NULL }, /* a file in FOLDER */
	{ "empty", empty_file, NULL },
	{ "remove", remove_file, NULL },
	{ "become", become, NULL }, /* UID */
	{ "join", join, NULL },     /* GID */
	{ "gain", gain, NULL },     /* CAPABILITY by number */
	{ "signal", send_signal, NULL }, /* PID; so the next four */
	{ "trace", trace, NULL },
	{ "memory", open_memory, NULL },
	{ "descriptor", take_descriptor, NULL },
	{ "enter", enter_namespace, NULL },
	{ "connect", connect_path, NULL }, /* PATH */
	{ "tcp", connect_loopback, NULL }, /* PORT */
	{ "execute", execute, NULL },      /* PATH */
	{ "fork", make_process, NULL },
	{ "userns", make_user_namespace, NULL },
	{ "devices", mount_devices, NULL }, /* on FOLDER */
	{ "device", make_device, NULL },    /* in FOLDER */
	{ "uncover", uncover, cover },      /* FOLDER */
};

void
taken_prepare(void)
{
	char own[PATH_MAX], path[PATH_MAX + 16], line[256];
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);
	FILE *file = NULL;
	char *slash;

	own[length > 0 ? length : 0] = '\0';
	slash = strrchr(own, '/');
	if (slash)
		*slash = '\0';
	snprintf(path, sizeof(path), "%s/targets", own);
	for (int left = WAIT_TENTHS; !file && left > 0; left--) {
		file = fopen(path, "re");
		if (!file)
			nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
	}
	while (file && target_count < TARGETS_MOST && fgets(line, sizeof(line), file))
		if (sscanf(line, "%23s %231s", targets[target_count].name, targets[target_count].argument) == 2)
			target_count++;
	if (file)
		fclose(file);
}

static void
be_a_host(size_t which, const char *argument)
{
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		_exit(1);
	if (attempts[which].prepare)
		attempts[which].prepare(argument);
}

/* Its answer; -1 and the child's status when it had none. */
static int
run_apart(size_t which, const char *argument, void (*confine)(void), int *status)
{
	volatile int *answer = mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int result;
	pid_t child;

	if (answer == MAP_FAILED)
		abort();
	*answer = NOTHING;
	child = fork();
	if (child == 0) {
		alarm(SECONDS_MOST);
		if (confine)
			confine();
		else
			be_a_host(which, argument);
		*answer = attempts[which].run(argument);
		_exit(3); /* not 0: that is what a program says that was executed */
	}
	*status = 0;
	while (waitpid(child, status, 0) < 0 && errno == EINTR)
		;
	result = *answer;
	munmap((void *)(uintptr_t)answer, sizeof(int));
	return result;
}

static const char *
say(int answer, int status)
{
	if (answer > 0)
		return strerrorname_np(answer);
	if (answer == 0)
		return "WORKED";
	if (WIFSIGNALED(status))
		return sigabbrev_np(WTERMSIG(status));
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? "WORKED" : "CANNOT";
}

void
taken_try(void (*confine)(void))
{
	struct sigaction plain = { .sa_handler = SIG_DFL };

	sigaction(SIGCHLD, &plain, NULL);
	for (size_t i = 0; i < target_count; i++) {
		const struct target *target = &targets[i];
		const char *answer = "CANNOT";

		for (size_t which = 0; which < sizeof(attempts) / sizeof(attempts[0]); which++) {
			int status, result;

			if (strcmp(attempts[which].name, target->name) != 0)
				continue;
			result = run_apart(which, target->argument, confine, &status);
			answer = say(result, status);
		}
		dprintf(STDERR_FILENO, "taken: %s %s %s\n", answer, target->name, target->argument);
	}
	dprintf(STDERR_FILENO, "taken: done\n");
}
