/* The begin and the end of a process. */
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "process.h"

#define KERNEL_SIGSET_BYTES 8

static bool wanted = true;
static struct source signals;

static void
on_signal(struct source *source, uint32_t events)
{
	struct signalfd_siginfo info;

	(void)events;
	while (read(source->fd, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT)
			process_finish("asked to stop");
}

/* 0, 1, 2 are open afterwards; 0 reads nothing. */
static void
open_standard(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	/* An open() that lands on 0-2 fills the hole itself, but must then stay open over exec. */
	while (null >= 0 && null <= STDERR_FILENO) {
		fcntl(null, F_SETFD, 0);
		null = open("/dev/null", O_RDWR | O_CLOEXEC);
	}
	if (null < 0 || dup2(null, STDIN_FILENO) < 0)
		fatal("/dev/null: %s", strerror(errno));
	close(null);
}

void
process_begin(const char *name, int highest)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	log_open(name);
	umask(077);
	clearenv();
	sigaction(SIGPIPE, &ignore, NULL);
	open_standard();
	if (syscall(SYS_close_range, (unsigned)highest + 1, ~0u, 0) < 0)
		fatal("close_range: %s", strerror(errno));
	if (highest > STDERR_FILENO &&
	    syscall(SYS_close_range, 3u, (unsigned)highest, CLOSE_RANGE_CLOEXEC) < 0)
		fatal("close_range: %s", strerror(errno));
}

void
process_watch(struct loop *loop)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &mask, NULL) < 0)
		fatal("sigprocmask: %s", strerror(errno));
	signals = (struct source){ .fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK), .ready = on_signal };
	if (signals.fd < 0 || loop_add(loop, &signals, EPOLLIN) < 0)
		fatal("signalfd: %s", strerror(errno));
}

bool
process_wanted(void)
{
	return wanted;
}

void
process_finish(const char *why)
{
	if (wanted)
		log_info("ending: %s", why);
	wanted = false;
}

/*
 * The kernel's own call: libc keeps 32 and 33 for itself, refuses them here, and passes them on to children when
 * whoever started us has ignored all there are, as make does.  All zeros is the default, in any layout.
 */
void
process_reset_signals(void)
{
	const unsigned long plain[8] = { 0 };
	sigset_t none;

	for (int number = 1; number < _NSIG; number++)
		syscall(SYS_rt_sigaction, number, plain, NULL, KERNEL_SIGSET_BYTES);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}
