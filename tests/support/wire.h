#ifndef WIRE_H
#define WIRE_H

/* Packets as a peer that keeps no rules would send them. */
#include <sys/socket.h>

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define WIRE_DESCRIPTORS_MOST 8

/*
 * One packet: the type, then `size` bytes of body; `count` copies of fd travel with it.
 * 0, or -1 with errno.
 */
static inline int
wire_send(int channel, uint32_t type, const void *body, size_t size, int fd, int count)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(WIRE_DESCRIPTORS_MOST * sizeof(int))];
	} control = { 0 };
	struct iovec parts[2] = { { &type, sizeof(type) }, { (void *)(uintptr_t)body, size } };
	struct msghdr packet = { .msg_iov = parts, .msg_iovlen = 2 };
	size_t bytes = (size_t)count * sizeof(int);

	if (count) {
		packet.msg_control = &control;
		packet.msg_controllen = CMSG_SPACE(bytes);
		control.header.cmsg_len = CMSG_LEN(bytes);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		for (int i = 0; i < count; i++)
			memcpy(CMSG_DATA(&control.header) + (size_t)i * sizeof(int), &fd, sizeof(fd));
	}
	return sendmsg(channel, &packet, MSG_NOSIGNAL) < 0 ? -1 : 0;
}

/* How many descriptors this process has open, without the one that looks. */
static inline int
wire_open_descriptors(void)
{
	DIR *all = opendir("/proc/self/fd");
	int count = -1;

	while (all && readdir(all))
		count++;
	if (all)
		closedir(all);
	return count - 2;
}

#endif
