/* Connections: who is there, lines in, lines out. */
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "limits.h"
#include "log.h"
#include "text.h"

#include "broker.h"

#define READ_AT_ONCE 65536
#define DESCRIPTORS_IN 2 /* one more than a line may bring: what is too much must be seen */
#define DESCRIPTORS_OUT 253 /* SCM_MAX_FD of Linux */
#define GROUPS_MOST 65536 /* NGROUPS_MAX of Linux */

static void
watch(struct client *client)
{
	uint32_t wanted = 0;

	/* Nothing is read while a request is in work or an answer on its way: that bounds memory. */
	if (client->out)
		wanted = EPOLLOUT;
	else if (!client->ended && !client->operation)
		wanted = EPOLLIN;
	if (wanted != client->watched &&
	    loop_change(&client->broker->loop, &client->source, wanted) < 0)
		client->broken = true;
	client->watched = wanted;
}

/* Take descriptors that came with these bytes; one may wait for its line. */
static void
take_descriptors(struct client *client, struct msghdr *packet)
{
	for (struct cmsghdr *header = CMSG_FIRSTHDR(packet); header;
	     header = CMSG_NXTHDR(packet, header)) {
		size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		int fd;

		if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < count; i++) {
			memcpy(&fd, CMSG_DATA(header) + i * sizeof(fd), sizeof(fd));
			if (client->descriptor < 0) {
				client->descriptor = fd;
				client->descriptor_at = client->in_length;
			} else {
				close(fd);
				client->broken = true;
			}
		}
	}
	if (packet->msg_flags & MSG_CTRUNC)
		client->broken = true;
}

/* Room for what is read next; no more than one line and what came with its end. */
static void
make_room(struct client *client)
{
	size_t wanted = client->in_length + READ_AT_ONCE;
	char *grown;

	if (wanted <= client->in_capacity)
		return;
	grown = realloc(client->in, wanted);
	if (!grown)
		fatal("out of memory");
	client->in = grown;
	client->in_capacity = wanted;
}

static void
read_some(struct client *client)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(DESCRIPTORS_IN * sizeof(int))];
	} control;
	struct iovec part;
	struct msghdr packet = { .msg_iov = &part, .msg_iovlen = 1,
	    .msg_control = &control, .msg_controllen = sizeof(control) };
	ssize_t length;

	make_room(client);
	part = (struct iovec){ client->in + client->in_length, READ_AT_ONCE };
	length = recvmsg(client->source.fd, &packet, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (length < 0) {
		client->broken = errno != EAGAIN && errno != EINTR;
		return;
	}
	take_descriptors(client, &packet);
	if (length == 0)
		client->ended = true;
	client->in_length += (size_t)length;
}

static void
drop_out(struct client *client)
{
	for (size_t i = 0; i < client->out_descriptor_count; i++)
		close(client->out_descriptors[i]);
	free(client->out_descriptors);
	free(client->out);
	client->out_descriptors = NULL;
	client->out_descriptor_count = 0;
	client->out = NULL;
}

/* One sendmsg(); the descriptors go with the first byte. */
static ssize_t
send_once(struct client *client)
{
	static union {
		struct cmsghdr header;
		char space[CMSG_SPACE(DESCRIPTORS_OUT * sizeof(int))];
	} control;
	struct iovec part = { client->out + client->out_sent,
		client->out_length - client->out_sent };
	struct msghdr packet = { .msg_iov = &part, .msg_iovlen = 1 };
	size_t bytes = client->out_descriptor_count * sizeof(int);

	if (bytes && client->out_sent == 0) {
		memset(&control, 0, sizeof(control));
		packet.msg_control = &control;
		packet.msg_controllen = CMSG_SPACE(bytes);
		control.header = (struct cmsghdr){ .cmsg_len = CMSG_LEN(bytes),
		    .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(&control.header), client->out_descriptors, bytes);
	}
	return sendmsg(client->source.fd, &packet, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void
write_some(struct client *client)
{
	while (client->out) {
		ssize_t sent = send_once(client);

		if (sent < 0) {
			client->broken = errno != EAGAIN && errno != EINTR;
			return;
		}
		client->out_sent += (size_t)sent;
		if (client->out_sent == client->out_length)
			drop_out(client);
	}
}

static void
on_client(struct source *source, uint32_t events)
{
	struct client *client = source->context;

	if (events & EPOLLERR)
		client->broken = true;
	else if (client->out)
		write_some(client);
	else if (events & EPOLLIN)
		read_some(client);
	/* Both directions are shut: nobody is left to hear an answer. */
	if (events & EPOLLHUP && !(events & EPOLLIN))
		client->broken = true;
	watch(client);
}

void
client_send(struct client *client, char *line, size_t length, int *descriptors,
    size_t descriptor_count)
{
	store_flush(client->broker->store);
	line[length] = '\n'; /* over the NUL */
	client->out = line;
	client->out_length = length + 1;
	client->out_sent = 0;
	client->out_descriptors = descriptors;
	client->out_descriptor_count = descriptor_count;
	write_some(client);
}

/* An error before there is an operation. */
static void
send_fault(struct client *client, const struct json *id, const struct rpc_fault *fault)
{
	size_t length;
	char *line = rpc_error(id, fault, NULL, &length);

	client_send(client, line, length, NULL, 0);
}

/* The descriptor that came within the first `length` bytes, or -1. */
static int
descriptor_of_line(struct client *client, size_t length)
{
	int fd = client->descriptor;

	if (fd < 0)
		return -1;
	if (client->descriptor_at >= length) {
		client->descriptor_at -= length;
		return -1;
	}
	client->descriptor = -1;
	return fd;
}

/* False: this user proposes or has the log sealed too fast, and has been told so. */
static bool
is_paced(struct client *client, const struct rpc_request *request)
{
	struct rpc_fault fault = { RPC_OURS, "rate_limited", "too many requests: ask again in a second" };
	bool writes = strcmp(request->method, "job.submit") == 0 || strcmp(request->method, "audit.head") == 0;

	if (client->control || client->uid == 0 || !writes ||
	    pace_allows(&client->broker->pace, client->uid, client->active_us))
		return true;
	send_fault(client, request->id, &fault);
	return false;
}

static void
begin_request(struct client *client, size_t length)
{
	struct rpc_request request;
	struct rpc_fault fault;
	int descriptor = descriptor_of_line(client, length + 1);
	bool good = rpc_parse(client->in, length, &request, &fault);

	client->in_length -= length + 1;
	memmove(client->in, client->in + length + 1, client->in_length);
	client->in_scanned = 0;
	client->active_us = clock_monotonic_us();
	if (good && !is_paced(client, &request)) {
		rpc_free(&request);
		if (descriptor >= 0)
			close(descriptor);
		return;
	}
	if (good) {
		operation_begin(client->broker, client, &request, descriptor);
		return;
	}
	send_fault(client, request.id, &fault);
	rpc_free(&request);
	if (descriptor >= 0)
		close(descriptor);
}

static void
refuse_long_line(struct client *client)
{
	struct rpc_fault fault = { RPC_REQUEST, "invalid_input", "a request is longer than 1 MiB" };

	client->closing = true;
	client->in_length = client->in_scanned = 0;
	send_fault(client, NULL, &fault);
}

/* Begin the next request; false when there is no whole line, or one is in work. */
static bool
take_line(struct client *client)
{
	char *newline;
	size_t length;

	if (client->operation || client->out || client->closing || client->broken)
		return false;
	newline = client->in_length == client->in_scanned ? NULL :
	    memchr(client->in + client->in_scanned, '\n', client->in_length - client->in_scanned);
	length = newline ? (size_t)(newline - client->in) : client->in_length;
	if (length >= LIMIT_LINE_BYTES) {
		refuse_long_line(client);
		return true;
	}
	client->in_scanned = client->in_length;
	if (!newline)
		return false;
	begin_request(client, length);
	return true;
}

static void
close_client(struct client *client)
{
	struct client **at = &client->broker->clients;

	while (*at != client)
		at = &(*at)->next;
	*at = client->next;
	if (client->operation)
		operation_abandon(client->operation);
	loop_remove(&client->broker->loop, &client->source);
	close(client->source.fd);
	if (client->descriptor >= 0)
		close(client->descriptor);
	drop_out(client);
	free(client->in);
	free(client);
}

/* It has said all it will say, and heard all it will hear. */
static bool
is_done(const struct client *client)
{
	if (client->broken)
		return true;
	return !client->out && !client->operation && (client->closing || client->ended);
}

bool
client_run(struct broker *broker)
{
	struct client *next;
	bool moved = false;

	for (struct client *client = broker->clients; client; client = next) {
		next = client->next;
		if (broker->serving && take_line(client))
			moved = true;
		else if (is_done(client)) {
			close_client(client);
			continue;
		}
		watch(client);
	}
	return moved;
}

void
client_close_all(struct broker *broker)
{
	while (broker->clients)
		close_client(broker->clients);
}

void
client_add(struct broker *broker, int fd, bool control, const struct ucred *peer)
{
	struct client *client = bytes_make(sizeof(*client));

	*client = (struct client){ .next = broker->clients,
		.broker = broker,
		.control = control,
		.uid = peer->uid,
		.gid = peer->gid,
		.pid = peer->pid,
		.descriptor = -1,
		.active_us = clock_monotonic_us(),
		.watched = EPOLLIN };
	client->source = (struct source){ .fd = fd, .ready = on_client, .context = client };
	if (loop_add(&broker->loop, &client->source, EPOLLIN) < 0) {
		log_errno("client");
		close(fd);
		free(client);
		return;
	}
	broker->clients = client;
}

bool
client_has_group(const struct client *client, gid_t gid)
{
	socklen_t size = GROUPS_MOST * sizeof(gid_t);
	gid_t *groups;
	bool found = client->gid == gid;

	if (found)
		return true;
	groups = bytes_make(size);
	if (getsockopt(client->source.fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size) < 0)
		size = 0;
	for (size_t i = 0; i < size / sizeof(gid_t); i++)
		found |= groups[i] == gid;
	free(groups);
	return found;
}

bool
client_sees(const struct client *client, int64_t submitter_uid)
{
	return client->control || client->uid == 0 || (int64_t)client->uid == submitter_uid;
}
