/* Questions to this machine. */
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <net/if.h>
#include <sched.h>
#include <unistd.h>

#include "scope.h"
#include "text.h"

#include "ask.h"

#define CREATE_RULESET_VERSION 1

void
ask_release(char *text, size_t size)
{
	struct utsname name;

	if (uname(&name) < 0 || !text_copy(text, size, name.release))
		text[0] = '\0';
}

bool
ask_file(const char *path, char *text, size_t size)
{
	scoped_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, text, size - 1);

	text[length > 0 ? length : 0] = '\0';
	return length >= 0;
}

int
ask_landlock_error(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_RULESET_VERSION) < 0 ? errno : 0;
}

static int
make_namespace(int kind)
{
	return unshare((geteuid() == 0 ? 0 : CLONE_NEWUSER) | kind) < 0 ? errno : 0;
}

static int
raise_loopback(int kind)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int error = make_namespace(kind), fd;

	if (error != 0)
		return error;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	return fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request) < 0 ? errno : 0;
}

/* What a child of ours answers: an errno, EPERM when something ended it. */
static int
ask_child(int (*question)(int kind), int kind)
{
	pid_t child = fork();
	int status = 0;

	if (child == 0)
		_exit(question(kind));
	if (child < 0 || waitpid(child, &status, 0) < 0)
		return errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EPERM;
}

int
ask_namespace(int kind)
{
	return ask_child(make_namespace, kind);
}

int
ask_loopback(void)
{
	return ask_child(raise_loopback, CLONE_NEWNET);
}

const char *
ask_cgroup_root(void)
{
	static const char *const places[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	struct statfs about;

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (statfs(places[i], &about) == 0 && about.f_type == CGROUP2_SUPER_MAGIC)
			return places[i];
	return NULL;
}
