/* The two pipes: always drained, whatever becomes of the bytes. */
#include <sys/epoll.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "keep.h"
#include "keeper.h"
#include "log.h"

#define READ_BYTES 65536         /* what a pipe holds by default */
#define DRAIN_BYTES (8u << 20)   /* after the end: more than the largest pipe an ordinary user can make (1 MiB) */

static unsigned char buffer[READ_BYTES];

/* One read; false: nothing there now, or the end. */
static bool
read_some(struct output *output)
{
	ssize_t length = read(output->pipe.fd, buffer, sizeof(buffer));

	if (length > 0)
		stream_feed(&output->stream, buffer, (size_t)length);
	return length > 0 || (length < 0 && errno == EINTR);
}

static void
check_bound(struct keeper *keeper)
{
	uint64_t bound = keeper->orders.output_bytes;

	if (bound != 0 && keeper->out.stream.bytes + keeper->err.stream.bytes > bound)
		stop_job(keeper, CAUSE_OUTPUT);
}

void
output_touch(struct keeper *keeper)
{
	bool counts = keeper->orders.idle_ms != 0 && keeper->phase == PHASE_RUNNING && !keeper->frozen;

	keeper->idle_us = counts ? clock_monotonic_us() + keeper->orders.idle_ms * 1000 : 0;
}

static void
on_pipe(struct source *source, uint32_t events)
{
	struct keeper *keeper = source->context;
	struct output *output = source == &keeper->out.pipe ? &keeper->out : &keeper->err;

	if (read_some(output)) {
		output_touch(keeper);
		check_bound(keeper);
		return;
	}
	/* No writer and nothing left. */
	if (events & (EPOLLHUP | EPOLLERR)) {
		loop_remove(&keeper->loop, source);
		output_close(output);
	}
}

void
output_open(struct keeper *keeper, struct output *output, int pipe_fd, const char *name)
{
	int file_fd = openat(KEEPER_FOLDER_FD, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640);

	if (file_fd < 0)
		fatal("%s: %s", name, strerror(errno));
	if (!stream_open(&output->stream, file_fd, keeper->orders.keep_bytes))
		fatal("%s: not enough memory", name);
	for (size_t i = 0; i < keeper->orders.secret_count; i++)
		if (!stream_hide(&output->stream, keeper->orders.secrets[i].bytes, keeper->orders.secrets[i].length))
			fatal("%s: a secret cannot be masked", name);
	/* The read end is ours alone: the job's end stays blocking. */
	if (fcntl(pipe_fd, F_SETFL, O_NONBLOCK) < 0)
		fatal("%s: pipe: %s", name, strerror(errno));
	output->pipe = (struct source){ .fd = pipe_fd, .ready = on_pipe, .context = keeper };
	if (loop_add(&keeper->loop, &output->pipe, EPOLLIN) < 0)
		fatal("%s: pipe: %s", name, strerror(errno));
}

void
output_drain(struct output *output)
{
	uint64_t most = output->stream.bytes + DRAIN_BYTES;

	while (output->pipe.fd >= 0 && output->stream.bytes < most && read_some(output))
		;
}

void
output_close(struct output *output)
{
	if (output->pipe.fd >= 0)
		close(output->pipe.fd);
	output->pipe.fd = -1;
}
