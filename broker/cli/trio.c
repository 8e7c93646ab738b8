/* The three daemons as processes. */
#include <sys/syscall.h>

#include <poll.h>
#include <stdint.h>
#include <unistd.h>

#include "json.h"
#include "loop.h"

#include "trio.h"

void
trio_watch(struct trio *trio, const struct json *status)
{
	static const char *const names[] = { "broker", "executor", "auditor" };

	trio->count = 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		int64_t pid;
		int fd;

		if (!json_integer(json_get(json_get(status, "pids"), names[i]), &pid) || pid <= 0)
			continue;
		fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
		if (fd >= 0)
			trio->fds[trio->count++] = fd;
	}
}

bool
trio_await_end(struct trio *trio, int timeout_ms)
{
	uint64_t end = clock_monotonic_us() + (uint64_t)timeout_ms * 1000;
	bool gone = true;

	for (size_t i = 0; i < trio->count; i++) {
		struct pollfd due = { .fd = trio->fds[i], .events = POLLIN };
		uint64_t now = clock_monotonic_us();

		gone &= poll(&due, 1, end > now ? (int)((end - now) / 1000) : 0) == 1;
		close(trio->fds[i]);
	}
	trio->count = 0;
	return gone;
}
