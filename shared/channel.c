/* Messages over SOCK_SEQPACKET: one send is one message, checked against its row. */
#include <sys/socket.h>
#include <sys/uio.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "channel.h"
#include "log.h"

union control {
	struct cmsghdr header;
	/* Room for more than any row allows: what is too much must be seen, not cut. */
	char space[CMSG_SPACE((MESSAGE_DESCRIPTORS + 2) * sizeof(int))];
};

/* Why this message must not be believed, or NULL. */
static const char *
breach(const struct channel *channel, uint32_t type, size_t size, int descriptors)
{
	const struct message_rule *rule;

	if (type <= MSG_NONE || type >= MSG_COUNT)
		return "unknown type";
	rule = &message_rules[type];
	if (rule->sender != channel->peer || rule->receiver != channel->self)
		return "wrong sender or receiver";
	if (rule->size != size)
		return "wrong size";
	if (rule->descriptors != descriptors)
		return "wrong number of descriptors";
	return NULL;
}

/* Move the descriptors of all SCM_RIGHTS blocks into fds; -1: more than fit, or other ancillary data. */
static int
collect_descriptors(struct msghdr *packet, int *fds, int capacity)
{
	struct cmsghdr *header;
	int total = 0, bad = 0;

	for (header = CMSG_FIRSTHDR(packet); header; header = CMSG_NXTHDR(packet, header)) {
		size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		int fd;

		if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) {
			bad = 1;
			continue;
		}
		for (size_t i = 0; i < count; i++) {
			memcpy(&fd, CMSG_DATA(header) + i * sizeof(fd), sizeof(fd));
			if (total < capacity)
				fds[total++] = fd;
			else {
				close(fd);
				bad = 1;
			}
		}
	}
	if (!bad)
		return total;
	while (total > 0)
		close(fds[--total]);
	return -1;
}

enum channel_got
channel_take(const struct channel *channel, struct message *message, const char **why)
{
	union control control;
	uint32_t type = 0;
	struct iovec parts[2] = { { &type, sizeof(type) }, { &message->body, sizeof(message->body) } };
	struct msghdr packet = { .msg_iov = parts, .msg_iovlen = 2,
	    .msg_control = &control, .msg_controllen = sizeof(control) };
	const char *reason;
	ssize_t length;
	int count;

	/* ECONNRESET, told once: the peer ended with messages of ours unread.  What it had sent comes after. */
	do
		length = recvmsg(channel->fd, &packet, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	while (length < 0 && (errno == EINTR || errno == ECONNRESET));
	if (length < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return CHANNEL_EMPTY;
	if (length < 0)
		return CHANNEL_CLOSED;
	count = collect_descriptors(&packet, message->descriptors, MESSAGE_DESCRIPTORS);
	if (length == 0 && count == 0 && !(packet.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
		return CHANNEL_CLOSED;
	if (count < 0 || packet.msg_flags & (MSG_TRUNC | MSG_CTRUNC) || length < (ssize_t)sizeof(type))
		reason = count < 0 ? "ancillary data" : "truncated";
	else
		reason = breach(channel, type, (size_t)length - sizeof(type), count);
	if (reason) {
		while (count > 0)
			close(message->descriptors[--count]);
		if (why)
			*why = reason;
		return CHANNEL_BREACH;
	}
	message->type = (enum message_type)type;
	return CHANNEL_MESSAGE;
}

enum channel_got
channel_receive(const struct channel *channel, struct message *message)
{
	const char *why = NULL;
	enum channel_got got = channel_take(channel, message, &why);

	if (got == CHANNEL_BREACH)
		fatal("breach by %s: %s", process_name(channel->peer), why);
	return got;
}

int
channel_send(const struct channel *channel, const struct message *message)
{
	const struct message_rule *rule = &message_rules[message->type];
	union control control = { 0 };
	uint32_t type = message->type;
	struct iovec parts[2] = { { &type, sizeof(type) }, { (void *)(uintptr_t)&message->body, rule->size } };
	struct msghdr packet = { .msg_iov = parts, .msg_iovlen = 2 };
	size_t bytes = (size_t)rule->descriptors * sizeof(int);
	ssize_t sent;

	if (bytes) {
		packet.msg_control = &control;
		packet.msg_controllen = CMSG_SPACE(bytes);
		control.header = (struct cmsghdr){ .cmsg_len = CMSG_LEN(bytes),
		    .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(&control.header), message->descriptors, bytes);
	}
	do
		sent = sendmsg(channel->fd, &packet, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (sent < 0 && errno == EINTR);
	return sent < 0 ? -1 : 0;
}

void
channel_must_send(const struct channel *channel, const struct message *message)
{
	if (channel_send(channel, message) < 0)
		fatal("send %s to %s: %s", message_rules[message->type].name,
		    process_name(channel->peer), strerror(errno));
}
