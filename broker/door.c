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

#define PROPOSERS_MOST (LIMIT_CLIENTS - 16) /* so that control.sock is never full of them */
#define PROPOSERS_OF_UID (LIMIT_CLIENTS / 2)

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
	if (all >= LIMIT_CLIENTS || (!control && proposers >= PROPOSERS_MOST))
		return "too many connections";
	if (!control && same >= PROPOSERS_OF_UID)
		return "too many connections of this user";
	return NULL;
}

/* A connection of the same user that has been quiet for long goes; false: there is none. */
static bool
make_room(struct broker *broker, uid_t uid)
{
	uint64_t now_us = clock_monotonic_us();
	struct client *quiet = NULL;

	for (struct client *at = broker->clients; at; at = at->next)
		if (!at->control && at->uid == uid && !at->broken && !at->operation && !at->out &&
		    now_us - at->active_us > LIMIT_CLIENT_IDLE_MS * 1000ull &&
		    (!quiet || at->active_us < quiet->active_us))
			quiet = at;
	if (quiet)
		quiet->broken = true; /* closed by client_run() */
	return quiet != NULL;
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
		if (why && make_room(broker, peer.uid))
			why = crowded(broker, control, peer.uid);
		if (why)
			turn_away(fd, why);
		else
			client_add(broker, fd, control, &peer);
	}
	if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
		log_errno("client: accept");
}
