/* epoll, and the two clocks. */
#include <sys/epoll.h>

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "log.h"
#include "loop.h"

#define EVENTS_AT_ONCE 64

/* Events of the round in progress; loop_remove() blanks those of its source. */
static struct epoll_event events[EVENTS_AT_ONCE];
static int event_count;

void
loop_open(struct loop *loop)
{
	loop->fd = epoll_create1(EPOLL_CLOEXEC);
	if (loop->fd < 0)
		fatal("epoll: %s", strerror(errno));
}

void
loop_close(struct loop *loop)
{
	close(loop->fd);
	loop->fd = -1;
}

int
loop_add(struct loop *loop, struct source *source, uint32_t wanted)
{
	struct epoll_event event = { .events = wanted, .data.ptr = source };

	return epoll_ctl(loop->fd, EPOLL_CTL_ADD, source->fd, &event);
}

int
loop_change(struct loop *loop, struct source *source, uint32_t wanted)
{
	struct epoll_event event = { .events = wanted, .data.ptr = source };

	return epoll_ctl(loop->fd, EPOLL_CTL_MOD, source->fd, &event);
}

void
loop_remove(struct loop *loop, struct source *source)
{
	epoll_ctl(loop->fd, EPOLL_CTL_DEL, source->fd, NULL);
	for (int i = 0; i < event_count; i++)
		if (events[i].data.ptr == source)
			events[i].data.ptr = NULL;
}

void
loop_wait(struct loop *loop, int timeout_ms)
{
	int count = epoll_wait(loop->fd, events, EVENTS_AT_ONCE, timeout_ms);

	if (count < 0 && errno != EINTR)
		fatal("epoll_wait: %s", strerror(errno));
	event_count = count < 0 ? 0 : count;
	for (int i = 0; i < event_count; i++) {
		struct source *source = events[i].data.ptr;

		if (source)
			source->ready(source, events[i].events);
	}
	event_count = 0;
}

static uint64_t
clock_us(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

uint64_t
clock_monotonic_us(void)
{
	return clock_us(CLOCK_MONOTONIC);
}

uint64_t
clock_realtime_us(void)
{
	return clock_us(CLOCK_REALTIME);
}

int
clock_until_ms(uint64_t deadline_us)
{
	uint64_t now = clock_monotonic_us(), ms;

	if (deadline_us == 0)
		return -1;
	if (deadline_us <= now)
		return 0;
	ms = (deadline_us - now + 999) / 1000;
	return ms > INT_MAX ? INT_MAX : (int)ms;
}
