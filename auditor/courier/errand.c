/* One run of one command. */
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "process.h"
#include "scope.h"
#include "text.h"

#include "errand.h"

#define SEARCH_PATH "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* --- the command's side ------------------------------------------------------------- */

/* The texts of a command, and the NULL behind them. */
static void
split(const struct boot_command *command, char *argv[LIMIT_COMMAND_ARGS + 1])
{
	size_t at = 0, count = 0;

	while (at < command->length && count < LIMIT_COMMAND_ARGS) {
		argv[count++] = (char *)(uintptr_t)(command->argv + at);
		at += strlen(command->argv + at) + 1;
	}
	argv[count] = NULL;
}

static _Noreturn void
run_child(const struct boot_command *command, const char *home, const int fds[3])
{
	char *argv[LIMIT_COMMAND_ARGS + 1], home_text[LIMIT_PATH + 8];
	char *const environment[] = { (char *)(uintptr_t)SEARCH_PATH, home_text, NULL };

	split(command, argv);
	process_reset_signals();
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* it does not outlive the courier */
	if (!text_format(home_text, sizeof(home_text), "HOME=%s", home) || setsid() < 0 || chdir("/") < 0)
		_exit(127);
	for (int i = 0; i < 3; i++)
		if (dup2(fds[i], i) < 0)
			_exit(127);
	syscall(SYS_close_range, 3u, ~0u, 0);
	execve(argv[0], argv, environment);
	dprintf(STDERR_FILENO, "%s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

/* --- ours ---------------------------------------------------------------------------- */

static void
close_pipe(struct errand *errand, struct errand_pipe *pipe)
{
	if (pipe->source.fd < 0)
		return;
	loop_remove(errand->loop, &pipe->source);
	close(pipe->source.fd);
	pipe->source.fd = -1;
}

static void
end_group(struct errand *errand, enum carried fault)
{
	if (errand->fault == 0)
		errand->fault = fault;
	kill(-errand->pid, SIGKILL);
}

/* Read what is there.  The first bytes are kept, all are counted. */
static void
drain(struct errand *errand, struct errand_pipe *pipe, char *kept, size_t size)
{
	char spare[4096];
	ssize_t got = 1;

	while (pipe->source.fd >= 0 && pipe->length <= LIMIT_CARRIED_BYTES && got > 0) {
		bool room = pipe->length < size;

		got = room ? read(pipe->source.fd, kept + pipe->length, size - pipe->length) :
		    read(pipe->source.fd, spare, sizeof(spare));
		if (got > 0)
			pipe->length += (size_t)got;
	}
	if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
		close_pipe(errand, pipe);
	if (pipe->length <= LIMIT_CARRIED_BYTES)
		return;
	close_pipe(errand, pipe);
	end_group(errand, CARRIED_LOUD);
}

static void
on_out(struct source *source, uint32_t events)
{
	struct errand *errand = source->context;

	(void)events;
	drain(errand, &errand->out, errand->bytes, sizeof(errand->bytes));
}

static void
on_words(struct source *source, uint32_t events)
{
	struct errand *errand = source->context;

	(void)events;
	drain(errand, &errand->words, errand->line, sizeof(errand->line) - 1);
}

static int
tie(struct errand *errand, struct errand_pipe *pipe, int fd, void (*ready)(struct source *, uint32_t))
{
	*pipe = (struct errand_pipe){ .source = { .fd = fd, .ready = ready, .context = errand } };
	if (fcntl(fd, F_SETFL, O_NONBLOCK) < 0)
		return -1;
	return loop_add(errand->loop, &pipe->source, EPOLLIN);
}

int
errand_start(struct errand *errand, struct loop *loop, const struct boot_command *command, const char *home,
    int input_fd, unsigned seconds)
{
	scoped_close int out = -1, words = -1, out_end = -1, words_end = -1;
	int pair[2];

	if (lseek(input_fd, 0, SEEK_SET) < 0 || pipe2(pair, O_CLOEXEC) < 0)
		return -1;
	out = pair[0];
	out_end = pair[1];
	if (pipe2(pair, O_CLOEXEC) < 0)
		return -1;
	words = pair[0];
	words_end = pair[1];
	errand->loop = loop;
	errand->fault = 0;
	memset(errand->line, 0, sizeof(errand->line));
	errand->pid = fork();
	if (errand->pid < 0)
		return -1;
	if (errand->pid == 0)
		run_child(command, home, (const int[3]){ input_fd, out_end, words_end });
	errand->busy = true;
	errand->deadline_us = clock_monotonic_us() + seconds * UINT64_C(1000000);
	if (tie(errand, &errand->out, scope_keep(&out), on_out) < 0 ||
	    tie(errand, &errand->words, scope_keep(&words), on_words) < 0)
		fatal("epoll: %s", strerror(errno));
	return 0;
}

void
errand_expire(struct errand *errand)
{
	errand->deadline_us = UINT64_MAX;
	end_group(errand, CARRIED_LATE);
}

enum carried
errand_finish(struct errand *errand, int32_t *detail)
{
	int status = 0;

	/* While its leader is a zombie the group's number is nobody else's. */
	kill(-errand->pid, SIGKILL);
	waitpid(errand->pid, &status, 0);
	drain(errand, &errand->out, errand->bytes, sizeof(errand->bytes));
	drain(errand, &errand->words, errand->line, sizeof(errand->line) - 1);
	/* Who has left the group may hold them open: nothing more is heard from there. */
	close_pipe(errand, &errand->out);
	close_pipe(errand, &errand->words);
	errand->busy = false;
	*detail = errand->fault != 0 ? 0 : WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
	return errand->fault != 0 ? errand->fault : WIFEXITED(status) ? CARRIED_EXITED : CARRIED_KILLED;
}

void
errand_drop(struct errand *errand)
{
	if (errand->busy)
		kill(-errand->pid, SIGKILL);
}
