/* What a child of launch does before it is a daemon. */
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "become.h"
#include "process.h"

#define ASIDE 64 /* above every fixed place: originals wait here while places are filled */
#define MOST_FDS 16

static int report_fd = -1;

void
become_report_to(int fd)
{
	report_fd = fd;
}

void
become_fail(const char *what)
{
	dprintf(report_fd, "%s: %s", what, strerror(errno));
	_exit(127);
}

static void
drop_bounding_set(void)
{
	for (cap_value_t number = 0; cap_get_bound(number) >= 0; number++)
		if (cap_drop_bound(number) < 0)
			become_fail("drop the bounding set");
}

void
become_somebody(struct identity identity)
{
	if (geteuid() == 0) {
		drop_bounding_set();
		if (setgroups(0, NULL) < 0 ||
		    setresgid(identity.gid, identity.gid, identity.gid) < 0 ||
		    setresuid(identity.uid, identity.uid, identity.uid) < 0)
			become_fail("change the uid");
		if (getuid() != identity.uid || setuid(0) == 0) {
			errno = EPERM;
			become_fail("the uid did not change");
		}
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		become_fail("no_new_privs");
}

static int
put_aside(int fd)
{
	int aside = fcntl(fd, F_DUPFD_CLOEXEC, ASIDE);

	if (aside < 0)
		become_fail("duplicate a descriptor");
	return aside;
}

/* Fill places 0, 1, ... with the descriptors that wait aside; everything above is closed by exec. */
static void
fill_places(const int *aside, unsigned count)
{
	for (unsigned place = 0; place < count; place++)
		if (dup2(aside[place], (int)place) < 0)
			become_fail("place a descriptor");
	if (syscall(SYS_close_range, count, ~0u, CLOSE_RANGE_CLOEXEC) < 0)
		become_fail("close_range");
}

void
become_program(const struct become *become)
{
	char *const environment[] = { NULL };
	int aside[3 + MOST_FDS], program_fd = put_aside(become->program_fd);

	report_fd = put_aside(report_fd);
	for (unsigned i = 0; i < 3; i++)
		aside[i] = put_aside(become->standard[i]);
	for (unsigned i = 0; i < become->fd_count && i < MOST_FDS; i++)
		aside[3 + i] = put_aside(become->fds[i]);
	fill_places(aside, 3 + become->fd_count);
	process_reset_signals();
	umask(077);
	if (setsid() < 0)
		become_fail("setsid");
	execveat(program_fd, "", (char *const *)(uintptr_t)become->argv, environment, AT_EMPTY_PATH);
	become_fail("execveat");
}
