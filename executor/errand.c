/* Children with a deadline. */
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "boot.h"

#include "errand.h"

#define ALIGNMENT 64

/* Memory for the findings of all errands. */
static unsigned char *space;
static size_t left;

static size_t
room_for(size_t size)
{
	return (size + sizeof(bool) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

bool
errand_reserve(size_t size, unsigned count)
{
	left = room_for(size) * count;
	space = mmap(NULL, left, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return space != MAP_FAILED;
}

bool
errand_open(struct errand *errand, size_t size, size_t zeroed)
{
	size_t room = room_for(size);

	*errand = (struct errand){ .pidfd = -1, .source.fd = -1, .zeroed = zeroed };
	if (room > left)
		return false;
	left -= room;
	errand->shared = space + left;
	errand->finished = (bool *)errand->shared + size;
	return true;
}

static _Noreturn void
go(struct errand *errand, void (*work)(struct errand *errand))
{
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	close(EXECUTOR_BROKER_FD);
	close(EXECUTOR_AUDITOR_FD);
	close(EXECUTOR_LOCK_FD);
	work(errand);
	*errand->finished = true;
	_exit(0);
}

int
errand_start(struct loop *loop, struct errand *errand, void (*work)(struct errand *errand),
    void *context, void (*ready)(struct source *source, uint32_t events), uint64_t milliseconds)
{
	struct clone_args args = { .flags = CLONE_PIDFD,
		.pidfd = (uint64_t)(uintptr_t)&errand->pidfd, .exit_signal = SIGCHLD };
	long pid;

	memset(errand->shared, 0, errand->zeroed);
	*errand->finished = false;
	errand->source.context = context;
	errand->source.ready = ready;
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (pid == 0)
		go(errand, work);
	if (pid < 0) {
		errand->pidfd = -1;
		return -1;
	}
	errand->source.fd = errand->pidfd; /* readable once the process has ended */
	errand->deadline_us = clock_monotonic_us() + milliseconds * 1000;
	return loop_add(loop, &errand->source, EPOLLIN);
}

bool
errand_is_out(const struct errand *errand)
{
	return errand->pidfd >= 0;
}

void
errand_expire(struct errand *errand, uint64_t now_us)
{
	if (errand->pidfd < 0 || errand->deadline_us == 0 || now_us < errand->deadline_us)
		return;
	syscall(SYS_pidfd_send_signal, errand->pidfd, SIGKILL, NULL, 0);
	errand->deadline_us = 0; /* once is enough, and a dead filesystem may hold it yet */
}

bool
errand_finish(struct loop *loop, struct errand *errand)
{
	loop_remove(loop, &errand->source);
	close(errand->pidfd);
	errand->pidfd = errand->source.fd = -1;
	return *errand->finished;
}
