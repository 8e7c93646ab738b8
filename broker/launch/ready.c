/*
 * The last step: the broker answers a client only when auditor and executor have
 * welcomed each other, so one answer on control.sock shows that all three are up.
 */
#include <sys/socket.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "launch.h"
#include "refuse.h"
#include "scope.h"

#define DEADLINE_MS 20000
#define TAIL_BYTES 65536

static const char *const names[3] = { "auditor", "executor", "broker" };

/* The line that tells most: the first fatal one, else the first error, in what the log got just now. */
static const char *
find_reason(char *text)
{
	const char *levels[] = { "<2>", "<3>" };
	char *line = NULL;

	for (size_t i = 0; i < 2 && !line; i++) {
		line = strstr(text, levels[i]);
		while (line && line != text && line[-1] != '\n')
			line = strstr(line + 1, levels[i]);
	}
	if (!line)
		return "it wrote no reason";
	line[strcspn(line, "\n")] = '\0';
	return line + 3;
}

/* How the broker's last words begin when it is the database that cannot be used. */
static const char database[] = "broker: store: ";

/*
 * The executor's own words, whoever of the three was seen to end first; and what confine_privileges() says where the
 * kernel had one user namespace to try, and not as many as are needed.
 */
static bool
is_about_the_cage(const char *reason)
{
	static const char executor[] = "executor: ";

	return strncmp(reason, executor, strlen(executor)) == 0 ||
	    strstr(reason, "confine: no user namespace of our own");
}

static _Noreturn void
refuse_with_reason(const struct launch *launch, const char *code, const char *what)
{
	static char text[TAIL_BYTES];
	scoped_close int fd = launch->daemon_stderr == STDERR_FILENO ? -1 :
	    openat(launch->state_fd, "trio.log", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, launch->log_start);
	const char *reason;

	text[got > 0 ? got : 0] = '\0';
	reason = find_reason(text);
	if (strncmp(reason, database, strlen(database)) == 0)
		refuse_start("storage_error", "%s", reason + strlen(database));
	refuse_start(is_about_the_cage(reason) ? "cage_unavailable" : code, "%s: %s", what, reason);
}

static void
ask(int fd)
{
	static const char hello[] =
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server.hello\",\"params\":{}}\n";

	if (fd < 0 || send(fd, hello, sizeof(hello) - 1, MSG_NOSIGNAL) != (ssize_t)sizeof(hello) - 1)
		refuse_start("internal_error", "our own control socket: %s", strerror(errno));
}

void
ready_wait(const struct launch *launch, const pid_t pids[3])
{
	scoped_close int fd = place_connect(&launch->place, launch->place.control);
	struct pollfd polls[4] = { { .fd = fd, .events = POLLIN } };
	char byte;
	int ready;

	ask(fd);
	for (int i = 0; i < 3; i++) {
		polls[1 + i] = (struct pollfd){ (int)syscall(SYS_pidfd_open, pids[i], 0), POLLIN, 0 };
		if (polls[1 + i].fd < 0)
			refuse_start("internal_error", "pidfd_open: %s", strerror(errno));
	}
	ready = poll(polls, 4, DEADLINE_MS);
	if (ready == 0)
		refuse_with_reason(launch, "internal_error", "the broker does not answer");
	/* One ends because another did: who was first says the log. */
	for (int i = 0; i < 3; i++)
		if (polls[1 + i].revents)
			refuse_with_reason(launch, i == 1 ? "cage_unavailable" : "internal_error",
			    names[i]);
	if (polls[0].revents & POLLIN && recv(fd, &byte, 1, MSG_PEEK) == 1)
		return;
	refuse_with_reason(launch, "internal_error", "the broker closed its socket");
}
