/* The client's end of the JSON-RPC sockets. */
#include <sys/socket.h>
#include <sys/uio.h>

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "limits.h"
#include "log.h"
#include "loop.h"
#include "talk.h"
#include "scope.h"
#include "text.h"

void
talk_fault_clear(struct talk_fault *fault)
{
	json_free(fault->data);
	*fault = (struct talk_fault){ 0 };
}

void
talk_fault_set(struct talk_fault *fault, const char *code, const char *format, ...)
{
	va_list arguments;

	talk_fault_clear(fault);
	text_copy(fault->code, sizeof(fault->code), code);
	va_start(arguments, format);
	if (vsnprintf(fault->message, sizeof(fault->message), format, arguments) < 0)
		fault->message[0] = '\0';
	va_end(arguments);
}

void
talk_open(struct talk *talk, int fd)
{
	*talk = (struct talk){ .fd = fd, .buffer = malloc(LIMIT_LINE_BYTES) };
	if (!talk->buffer)
		fatal("out of memory");
}

void
talk_close(struct talk *talk)
{
	talk_take_descriptors(talk, NULL, 0);
	scope_close(&talk->fd);
	free(talk->buffer);
	*talk = (struct talk){ .fd = -1 };
}

size_t
talk_take_descriptors(struct talk *talk, int *descriptors, size_t most)
{
	size_t count = talk->descriptor_count < most ? talk->descriptor_count : most;

	for (size_t i = 0; i < talk->descriptor_count; i++) {
		if (i < count)
			descriptors[i] = talk->descriptors[i];
		else
			close(talk->descriptors[i]);
	}
	talk->descriptor_count = 0;
	return count;
}

ssize_t
talk_write(int fd, const char *bytes, size_t length, int pass_fd, int flags)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	struct iovec part = { (void *)(uintptr_t)bytes, length };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	if (pass_fd >= 0) {
		control.align.cmsg_level = SOL_SOCKET;
		control.align.cmsg_type = SCM_RIGHTS;
		control.align.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.align), &pass_fd, sizeof(int));
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
	}
	return sendmsg(fd, &message, flags | MSG_NOSIGNAL);
}

/* Send all of it; the descriptor goes with the first byte. */
static int
send_line(int fd, const char *line, size_t length, int pass_fd)
{
	while (length > 0) {
		ssize_t sent = talk_write(fd, line, length, pass_fd, 0);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return -1;
		line += sent;
		length -= (size_t)sent;
		pass_fd = -1;
	}
	return 0;
}

int64_t
talk_send(struct talk *talk, const char *method, struct json *params, int pass_fd)
{
	struct json *request = json_object();
	scoped_free char *line = NULL;
	size_t length;

	json_add_text(request, "jsonrpc", "2.0");
	json_add_integer(request, "id", ++talk->last_id);
	json_add_text(request, "method", method);
	json_add(request, "params", params ? params : json_object());
	line = json_print(request, &length);
	json_free(request);
	if (length >= LIMIT_LINE_BYTES) {
		errno = E2BIG;
		return -1;
	}
	line[length] = '\n'; /* over the NUL */
	return send_line(talk->fd, line, length + 1, pass_fd) < 0 ? -1 : talk->last_id;
}

/* Keep what came in ancillary data; false when it was cut or is more than a reply may carry. */
static bool
keep_descriptors(struct talk *talk, struct msghdr *message)
{
	bool whole = !(message->msg_flags & MSG_CTRUNC);

	for (struct cmsghdr *at = CMSG_FIRSTHDR(message); at; at = CMSG_NXTHDR(message, at)) {
		size_t count = (at->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		int fd;

		if (at->cmsg_level != SOL_SOCKET || at->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < count; i++) {
			memcpy(&fd, CMSG_DATA(at) + i * sizeof(int), sizeof(int));
			if (talk->descriptor_count < TALK_DESCRIPTORS) {
				talk->descriptors[talk->descriptor_count++] = fd;
			} else {
				close(fd);
				whole = false;
			}
		}
	}
	return whole;
}

/* One read into the buffer; 1: some came, 0: end, -1: not our protocol. */
static int
read_some(struct talk *talk)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int) * (TALK_DESCRIPTORS + 1))];
		struct cmsghdr align;
	} control;
	struct iovec part = { talk->buffer + talk->used, LIMIT_LINE_BYTES - talk->used };
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	ssize_t got;

	if (part.iov_len == 0)
		return -1;
	got = recvmsg(talk->fd, &message, MSG_CMSG_CLOEXEC);
	if (got < 0)
		return errno == EINTR || errno == EAGAIN ? 1 : 0;
	if (!keep_descriptors(talk, &message))
		return -1;
	talk->used += (size_t)got;
	return got > 0;
}

/* Forget the line that was given out before. */
static void
drop_taken(struct talk *talk)
{
	memmove(talk->buffer, talk->buffer + talk->taken, talk->used - talk->taken);
	talk->used -= talk->taken;
	talk->taken = 0;
}

enum talk_state
talk_receive(struct talk *talk, int timeout_ms, struct json **reply)
{
	uint64_t end = clock_monotonic_us() + (uint64_t)(timeout_ms > 0 ? timeout_ms : 0) * 1000;
	struct json_error error;

	drop_taken(talk);
	for (;;) {
		struct pollfd due = { .fd = talk->fd, .events = POLLIN };
		char *newline = memchr(talk->buffer, '\n', talk->used);
		uint64_t now = clock_monotonic_us();
		int got;

		if (newline) {
			talk->taken = (size_t)(newline - talk->buffer) + 1;
			*reply = json_parse(talk->buffer, talk->taken - 1, &error);
			return *reply ? TALK_REPLY : TALK_BROKEN;
		}
		got = poll(&due, 1, timeout_ms < 0 ? -1 : end > now ? (int)((end - now + 999) / 1000) : 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got == 0 ? TALK_TIMEOUT : TALK_CLOSED;
		got = read_some(talk);
		if (got <= 0)
			return got == 0 ? TALK_CLOSED : TALK_BROKEN;
	}
}

/* The error object of a reply, as a fault. */
static void
read_error(const struct json *error, struct talk_fault *fault)
{
	const struct json *data = json_get(error, "data");
	const char *code = json_text(json_get(data, "code"));
	const char *message = json_text(json_get(error, "message"));

	talk_fault_set(fault, code ? code : "internal_error", "%s",
	    message ? message : "the broker gave no reason");
	if (json_is_object(data))
		fault->data = json_copy(data);
}

struct json *
talk_result(struct json *reply, int64_t id, struct talk_fault *fault)
{
	const struct json *result = json_get(reply, "result"), *error = json_get(reply, "error");
	struct json *copy = NULL;
	int64_t answered = 0;

	if (json_is_object(error))
		read_error(error, fault);
	else if (!json_integer(json_get(reply, "id"), &answered) || answered != id || !result)
		talk_fault_set(fault, "broker_unreachable", "the broker's answer is not to what was asked");
	else
		copy = json_copy(result);
	json_free(reply);
	return copy;
}

struct json *
talk_call(struct talk *talk, const char *method, struct json *params, int pass_fd, int timeout_ms,
    struct talk_fault *fault)
{
	int64_t id = talk_send(talk, method, params, pass_fd);
	struct json *reply = NULL;

	if (id < 0 && errno == E2BIG) {
		talk_fault_set(fault, "invalid_input", "the request is longer than %u bytes", LIMIT_LINE_BYTES);
		return NULL;
	}
	/* A broker that refuses the connection answers before it closes it: read even after EPIPE. */
	switch (talk_receive(talk, timeout_ms, &reply)) {
	case TALK_REPLY:
		return talk_result(reply, id, fault);
	case TALK_TIMEOUT:
		talk_fault_set(fault, "broker_unreachable", "no answer to %s in time", method);
		return NULL;
	case TALK_BROKEN:
		talk_fault_set(fault, "broker_unreachable", "the answer to %s is not our protocol", method);
		return NULL;
	default:
		talk_fault_set(fault, "broker_unreachable", "the broker closed the connection during %s", method);
		return NULL;
	}
}

bool
talk_is_reached(const struct json *job, const char *what)
{
	static const char *const open[] = { "queued", "retry_wait", "running" };
	const char *status = json_text(json_get(job, "status"));
	const char *approval = json_text(json_get(job, "approval_status"));

	if (strcmp(what, "decided") == 0 && approval && strcmp(approval, "pending") != 0)
		return true;
	for (size_t i = 0; status && i < sizeof(open) / sizeof(*open); i++)
		if (strcmp(status, open[i]) == 0)
			return false;
	return true;
}
