/* The life of the adapter: find the trio, serve, end. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "log.h"
#include "loop.h"
#include "reach.h"

#include "ask.h"
#include "mcp.h"
#include "protocol.h"
#include "waits.h"

static _Noreturn void
usage(void)
{
	fprintf(stderr, "usage: agent-safe-mcp [--workspace DIR | --system] [--policy FILE] [--state DIR] "
	    "[--permission-tool]\n");
	_exit(2);
}

/* The few words that `agent-safe mcp` passes on. */
static void
read_words(struct mcp *mcp, struct place_wish *wish, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char **value = strcmp(argv[i], "--workspace") == 0 ? &wish->workspace :
		    strcmp(argv[i], "--policy") == 0 ? &wish->policy :
		    strcmp(argv[i], "--state") == 0 ? &wish->state : NULL;

		if (value && i + 1 < argc && !*value)
			*value = argv[++i];
		else if (strcmp(argv[i], "--system") == 0)
			wish->system = true;
		else if (strcmp(argv[i], "--permission-tool") == 0)
			mcp->permission = true;
		else
			usage();
	}
	if (wish->system && wish->workspace)
		usage();
}

/*
 * A host starts us before there is anything to talk to, and must get an answer to its handshake
 * all the same: without a trio every tool says why.
 */
void
mcp_open(struct mcp *mcp, int argc, char **argv)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct place_wish wish = { 0 };
	int fd;

	if (!reach_standard())
		_exit(1);
	log_open("agent-safe-mcp");
	sigaction(SIGPIPE, &ignore, NULL);
	read_words(mcp, &wish, argc, argv);
	lines_open(&mcp->lines, STDIN_FILENO);
	fd = reach_connect(&wish, &mcp->place, REACH_PROPOSE, true, &mcp->trouble);
	mcp->placed = fd >= 0 || mcp->place.propose[0] != '\0';
	if (fd >= 0)
		close(fd); /* the first question opens its own and says hello */
	else
		log_warn("%s: %s", mcp->trouble.code, mcp->trouble.message);
}

/* Every whole line that was read. */
static void
serve_lines(struct mcp *mcp)
{
	enum lines_found found;
	char *line;
	size_t length;

	while ((found = lines_next(&mcp->lines, &line, &length)) != LINES_NONE) {
		if (found == LINES_LINE)
			protocol_line(mcp, line, length);
		else
			protocol_too_long(mcp);
	}
}

bool
mcp_serve(struct mcp *mcp)
{
	struct pollfd due[2 + WAITS_MOST] = {
		{ .fd = mcp->lines.fd, .events = POLLIN },
		{ .fd = STDOUT_FILENO, .events = 0 }, /* tells only that nobody reads any more */
	};
	int timeout_ms = -1;
	size_t count = 2 + waits_watch(mcp, due + 2, &timeout_ms);

	if (poll(due, count, timeout_ms) < 0 && errno != EINTR)
		fatal("poll: %s", strerror(errno));
	if (due[1].revents & (POLLERR | POLLHUP | POLLNVAL))
		return false;
	if (due[0].revents)
		lines_read(&mcp->lines);
	ask_note_end(mcp);
	serve_lines(mcp);
	waits_serve(mcp);
	if (!mcp->lines.ended)
		return true;
	waits_finish(mcp);
	return false;
}

void
mcp_close(struct mcp *mcp)
{
	if (mcp->connected)
		talk_close(&mcp->talk);
	lines_close(&mcp->lines);
	talk_fault_clear(&mcp->trouble);
}
