/*
 * LD_PRELOAD: ends the process with 137, as KILL would, before its N-th call that touches a file (STRIKE_AT=N).
 */
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

static void
count(void)
{
	static long left = -1;

	if (left < 0)
		left = getenv("STRIKE_AT") ? strtol(getenv("STRIKE_AT"), NULL, 10) : 0;
	if (left > 0 && --left == 0)
		_exit(137);
}

int
fsync(int fd)
{
	count();
	return (int)syscall(SYS_fsync, fd);
}

int
unlinkat(int folder, const char *name, int flags)
{
	count();
	return (int)syscall(SYS_unlinkat, folder, name, flags);
}

int
linkat(int from, const char *path, int to, const char *name, int flags)
{
	count();
	return (int)syscall(SYS_linkat, from, path, to, name, flags);
}

int
fchown(int fd, uid_t uid, gid_t gid)
{
	count();
	return (int)syscall(SYS_fchown, fd, uid, gid);
}

int
ioctl(int fd, unsigned long request, ...)
{
	va_list list;
	void *argument;

	va_start(list, request);
	argument = va_arg(list, void *);
	va_end(list);
	count();
	return (int)syscall(SYS_ioctl, fd, request, argument);
}
