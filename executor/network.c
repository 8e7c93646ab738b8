/* A job's network namespace: only loopback, or nothing. */
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "scope.h"

#include "network.h"

#define ANSWER_BYTES 32768 /* as iproute2: the kernel never makes a larger piece of a dump */

/* What is up. */
struct links {
	unsigned loopback, others;
	bool complete;
};

/* The kernel gives it 127.0.0.1 and ::1 by itself. */
static int
raise_loopback(void)
{
	struct ifreq request = { .ifr_name = "lo" };
	scoped_close int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &request) < 0)
		return -1;
	request.ifr_flags |= IFF_UP;
	return ioctl(fd, SIOCSIFFLAGS, &request);
}

static int
ask_for_links(int fd)
{
	struct {
		struct nlmsghdr head;
		struct ifinfomsg link;
	} request = { .head = { .nlmsg_len = sizeof(request), .nlmsg_type = RTM_GETLINK,
	    .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP } };

	return send(fd, &request, sizeof(request), 0) == (ssize_t)sizeof(request) ? 0 : -1;
}

/* One piece of the answer; -1 with errno. */
static int
count_links(const unsigned char *bytes, size_t length, struct links *links)
{
	while (length >= sizeof(struct nlmsghdr)) {
		const struct nlmsghdr *head = (const void *)bytes;
		const struct ifinfomsg *link = NLMSG_DATA(head);
		size_t size = NLMSG_ALIGN(head->nlmsg_len);

		errno = EPROTO;
		if (head->nlmsg_type == NLMSG_DONE)
			links->complete = true;
		else if (head->nlmsg_type != RTM_NEWLINK || head->nlmsg_len < NLMSG_LENGTH(sizeof(*link)))
			return -1;
		else if ((link->ifi_flags & IFF_UP) && link->ifi_type == ARPHRD_LOOPBACK)
			links->loopback++;
		else if (link->ifi_flags & IFF_UP)
			links->others++;
		if (size < sizeof(*head) || size > NLMSG_ALIGN(length))
			return -1;
		bytes += size;
		length -= size < length ? size : length;
	}
	return 0;
}

static int
look(struct links *links)
{
	static _Alignas(struct nlmsghdr) unsigned char bytes[ANSWER_BYTES]; /* init is alone */
	scoped_close int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	if (fd < 0 || ask_for_links(fd) < 0)
		return -1;
	while (!links->complete) {
		ssize_t length = recv(fd, bytes, sizeof(bytes), 0);

		if (length <= 0 || count_links(bytes, (size_t)length, links) < 0)
			return -1;
	}
	return 0;
}

int
network_settle(enum network network)
{
	struct links links = { 0 };

	if (network == NETWORK_TCP_PORTS)
		return 0;
	if (network == NETWORK_LOOPBACK && raise_loopback() < 0)
		return -1;
	if (look(&links) < 0)
		return -1;
	if (links.others == 0 && links.loopback == (network == NETWORK_LOOPBACK ? 1 : 0))
		return 0;
	errno = links.others || links.loopback ? EBUSY : ENETDOWN;
	return -1;
}
