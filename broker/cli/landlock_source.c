/* Where the kernel tells of what Landlock denied. */
#include <sys/signalfd.h>
#include <sys/socket.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/netlink.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scope.h"

#include "landlock_source.h"

#define MESSAGE_BYTES 16384      /* a record is at most 8 KiB (kernel/audit.c, AUDIT_BUFSIZ and its growth) */
#define GROUP_BUFFER (4 << 20)   /* for bursts; the kernel gives less when it must */
#define ANSWER_MS 2000

int
source_open_file(const char *path)
{
	return open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
}

static int
open_audit(unsigned groups)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = groups };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_AUDIT), error;

	if (fd < 0)
		return -1;
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

int
source_open_group(void)
{
	int fd = open_audit(1u << (AUDIT_NLGRP_READLOG - 1)), size = GROUP_BUFFER;

	if (fd >= 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)); /* what it has will do, too */
	return fd;
}

/* The answer to AUDIT_GET: the status, or an error. */
static int
read_status(int fd)
{
	union {
		struct nlmsghdr header;
		char bytes[1024];
	} answer;
	struct pollfd ready = { .fd = fd, .events = POLLIN };

	while (poll(&ready, 1, ANSWER_MS) == 1) {
		ssize_t length = recv(fd, &answer, sizeof(answer), 0);

		if (length < (ssize_t)NLMSG_LENGTH(sizeof(uint32_t)))
			break;
		if (answer.header.nlmsg_type == AUDIT_GET && length >= (ssize_t)NLMSG_LENGTH(2 * sizeof(uint32_t)))
			return ((struct audit_status *)NLMSG_DATA(&answer.header))->enabled != 0;
		if (answer.header.nlmsg_type == NLMSG_ERROR && *(int *)NLMSG_DATA(&answer.header) != 0) {
			errno = -*(int *)NLMSG_DATA(&answer.header);
			return -1;
		}
	}
	errno = ETIMEDOUT;
	return -1;
}

int
source_audit_is_on(void)
{
	struct nlmsghdr question = { .nlmsg_len = sizeof(question), .nlmsg_type = AUDIT_GET,
		.nlmsg_flags = NLM_F_REQUEST };
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	scoped_close int fd = open_audit(0);

	if (fd < 0 || sendto(fd, &question, sizeof(question), 0, (struct sockaddr *)&kernel, sizeof(kernel)) < 0)
		return -1;
	return read_status(fd);
}

int
source_read_lines(int fd, struct landlock_log *log)
{
	FILE *file = fdopen(fd, "r");
	scoped_free char *line = NULL;
	size_t size = 0;
	ssize_t length;
	int error;

	if (!file)
		return -1;
	while ((length = getline(&line, &size, file)) > 0)
		landlock_log_line(log, line, (size_t)length - (line[length - 1] == '\n'));
	error = ferror(file) ? errno : 0;
	fclose(file);
	errno = error;
	return error ? -1 : 0;
}

/*
 * "6,1234,22972572378,-;TEXT", further lines with a blank before them.  Only what the kernel itself said:
 * processes may write there, too, and then the first number is 8 or more (printk's facility).
 */
static void
read_message(struct landlock_log *log, const char *message, size_t length)
{
	const char *text = memchr(message, ';', length), *end;

	if (!text || length < 2 || message[0] < '0' || message[0] > '7' || message[1] != ',')
		return;
	text++;
	length -= (size_t)(text - message);
	end = memchr(text, '\n', length);
	landlock_log_line(log, text, end ? (size_t)(end - text) : length);
}

int
source_read_messages(int fd, struct landlock_log *log, bool *lost)
{
	static char message[MESSAGE_BYTES];

	for (;;) {
		ssize_t length = read(fd, message, sizeof(message));

		if (length > 0)
			read_message(log, message, (size_t)length);
		else if (length < 0 && errno == EPIPE)
			*lost = true;
		else if (length == 0 || errno == EAGAIN)
			return 0;
		else if (errno != EINTR)
			return -1;
	}
}

/* One datagram: a header and the record's text. */
static void
read_datagram(struct landlock_log *log, const char *bytes, size_t length)
{
	struct nlmsghdr header;

	if (length < sizeof(header))
		return;
	memcpy(&header, bytes, sizeof(header));
	length -= sizeof(header);
	bytes += sizeof(header);
	landlock_log_record(log, header.nlmsg_type, bytes, strnlen(bytes, length));
}

int
source_read_group(int fd, struct landlock_log *log, bool *lost)
{
	static char message[MESSAGE_BYTES];

	for (;;) {
		ssize_t length = recv(fd, message, sizeof(message), MSG_DONTWAIT);

		if (length > 0)
			read_datagram(log, message, (size_t)length);
		else if (length < 0 && errno == ENOBUFS)
			*lost = true;
		else if (length == 0 || errno == EAGAIN)
			return 0;
		else if (errno != EINTR)
			return -1;
	}
}

static int
open_signals(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	if (sigprocmask(SIG_BLOCK, &signals, NULL) < 0)
		return -1;
	return signalfd(-1, &signals, SFD_CLOEXEC);
}

int
source_follow_group(int fd, struct landlock_log *log, bool *lost)
{
	scoped_close int signals = open_signals();
	struct pollfd ready[] = { { .fd = fd, .events = POLLIN }, { .fd = signals, .events = POLLIN } };

	if (signals < 0)
		return -1;
	do {
		if (poll(ready, 2, -1) < 0 && errno != EINTR)
			return -1;
		if (source_read_group(fd, log, lost) < 0)
			return -1;
	} while (!(ready[1].revents & POLLIN) && !(ready[0].revents & POLLHUP));
	return 0;
}
