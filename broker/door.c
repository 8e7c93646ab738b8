/* Who comes in through the two listening sockets, and who is turned away. */
#include <sys/socket.h>

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "limits.h"
#include "log.h"
#include "text.h"

#include "broker.h"
#include "door.h"

/* Why this connection cannot be taken, or NULL. */
static const char *
crowded(const struct broker *broker, bool control, uid_t uid)
{
	unsigned all = 0, proposers = 0, same = 0;

	for (const struct client *at = broker->clients; at; at = at->next) {
		if (at->broken)
			continue;
		all++;
		proposers += !at->control;
		same += !at->control && at->uid == uid;
	}
	if (all >= LIMIT_CLIENTS || (!control && proposers >= LIMIT_PROPOSERS))
		return "too many connections";
	if (!control && same >= LIMIT_PROPOSERS_OF_UID)
		return "too many connections of this user";
	return NULL;
}

/* A connection of the same user that has been quiet for long goes, also one that reads no answer. */
static bool
end_quiet(struct broker *broker, uid_t uid)
{
	uint64_t now_us = clock_monotonic_us();
	struct client *quiet = NULL;

	for (struct client *at = broker->clients; at; at = at->next)
		if (!at->control && at->uid == uid && !at->broken && !at->operation &&
		    now_us - at->active_us > LIMIT_CLIENT_IDLE_MS * 1000ull &&
		    (!quiet || at->active_us < quiet->active_us))
			quiet = at;
	if (quiet)
		quiet->broken = true; /* closed by client_run() */
	return quiet != NULL;
}

static unsigned
count_of(const struct broker *broker, uid_t uid)
{
	unsigned count = 0;

	for (const struct client *at = broker->clients; at; at = at->next)
		count += !at->control && !at->broken && at->uid == uid;
	return count;
}

/* Which of two goes first: one that waits for nothing, then the one that asked longest ago. */
static bool
goes_before(const struct client *one, const struct client *other)
{
	if (!one->operation != !other->operation)
		return !one->operation;
	return one->active_us < other->active_us;
}

/* propose.sock is full: the user with the most connections gives one up to who has far fewer. */
static bool
share(struct broker *broker, uid_t uid)
{
	unsigned most = count_of(broker, uid) + 1;
	struct client *last = NULL;

	for (struct client *at = broker->clients; at; at = at->next) {
		unsigned count = at->control || at->broken ? 0 : count_of(broker, at->uid);

		if (count > most || (last && count == most && goes_before(at, last))) {
			most = count;
			last = at;
		}
	}
	if (last)
		last->broken = true; /* closed by client_run() */
	return last != NULL;
}

/* One line, if it fits into the empty socket, and goodbye. */
static void
turn_away(int fd, const char *why)
{
	struct rpc_fault fault = { RPC_OURS, "busy", "" };
	size_t length;
	char *line;

	text_copy(fault.text, sizeof(fault.text), why);
	line = rpc_error(NULL, &fault, NULL, &length);
	line[length] = '\n';
	if (send(fd, line, length + 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		log_errno("client: goodbye");
	free(line);
	close(fd);
}

void
door_accept(struct broker *broker, int listener, bool control)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);
	const char *why;
	int fd;

	while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
		size = sizeof(peer);
		if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 ||
		    size != sizeof(peer)) {
			log_errno("client: credentials");
			close(fd);
			continue;
		}
		why = crowded(broker, control, peer.uid);
		if (why && (end_quiet(broker, peer.uid) || (!control && share(broker, peer.uid))))
			why = crowded(broker, control, peer.uid);
		if (why)
			turn_away(fd, why);
		else
			client_add(broker, fd, control, &peer);
	}
	if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
		log_errno("client: accept");
}
