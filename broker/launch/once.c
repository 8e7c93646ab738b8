/* One run of a daemon's program for one answer. */
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "become.h"
#include "once.h"
#include "refuse.h"
#include "text.h"

static int64_t
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static _Noreturn void
run_child(const struct once *once, int out_fd, int error_fd)
{
	const struct become become = {
		.program_fd = once->program_fd,
		.argv = once->argv,
		.standard = { once->stdin_fd, out_fd, error_fd },
		.fds = once->fds,
		.fd_count = once->fd_count,
	};

	become_report_to(error_fd); /* a failure before exec looks like the program's own last line */
	become_somebody(once->identity);
	become_program(&become);
}

/* Read what is there; false at the end of file.  errno is EFBIG when it does not fit. */
static bool
drain(int fd, char *bytes, size_t size, size_t *length)
{
	ssize_t got = read(fd, bytes + *length, size - *length);

	if (got > 0) {
		*length += (size_t)got;
		errno = *length == size ? EFBIG : 0;
		return errno == 0;
	}
	return got < 0 && errno == EINTR;
}

/* Both pipes until both have ended; false when the deadline passes or there is too much. */
static bool
collect(struct once *once, int out_fd, int error_fd, size_t *error_length)
{
	struct pollfd polls[2] = { { out_fd, POLLIN, 0 }, { error_fd, POLLIN, 0 } };
	int64_t end = now_ms() + once->deadline_ms;

	while (polls[0].fd >= 0 || polls[1].fd >= 0) {
		int64_t left = end - now_ms();

		errno = ETIMEDOUT;
		if (left <= 0 || (poll(polls, 2, (int)left) < 0 && errno != EINTR))
			return false;
		if (polls[0].revents && !drain(out_fd, once->out, sizeof(once->out), &once->out_length)) {
			if (errno == EFBIG)
				return false;
			polls[0].fd = -1;
		}
		if (polls[1].revents && !drain(error_fd, once->error, sizeof(once->error) - 1, error_length)) {
			if (errno == EFBIG)
				return false;
			polls[1].fd = -1;
		}
	}
	return true;
}

/* Keep the last line of its standard error, without "<3>name: ". */
static void
trim_error(struct once *once, size_t length)
{
	char *line, *prefix;

	once->error[length] = '\0';
	while (length > 0 && once->error[length - 1] == '\n')
		once->error[--length] = '\0';
	line = strrchr(once->error, '\n');
	line = line ? line + 1 : once->error;
	prefix = line[0] == '<' ? strstr(line, ": ") : NULL;
	if (prefix)
		line = prefix + 2;
	memmove(once->error, line, strlen(line) + 1);
}

void
once_run(struct once *once)
{
	int out[2], error[2];
	size_t error_length = 0;
	bool good;
	pid_t child;

	if (pipe2(out, O_CLOEXEC) < 0 || pipe2(error, O_CLOEXEC) < 0)
		refuse_start("internal_error", "pipe: %s", strerror(errno));
	child = fork();
	if (child < 0)
		refuse_start("internal_error", "fork: %s", strerror(errno));
	if (child == 0)
		run_child(once, out[1], error[1]);
	close(out[1]);
	close(error[1]);
	good = collect(once, out[0], error[0], &error_length);
	if (!good)
		kill(child, SIGKILL);
	close(out[0]);
	close(error[0]);
	if (waitpid(child, &once->status, 0) < 0)
		refuse_start("internal_error", "waitpid: %s", strerror(errno));
	trim_error(once, error_length);
	if (!good)
		refuse_start("internal_error", "%s %s: no answer in time, or too long a one", once->argv[0],
		    once->argv[1]);
}
