/*
 * Sockets of a job that may connect to named ports of the host's network: 46, 48, 50-53.  In such
 * a cage these take the place of probe_network.c's.
 */
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "probe.h"

#define MPTCP 262 /* IPPROTO_MPTCP */

static struct sockaddr_in
address_of(const char *host)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)probe_targets.tcp_port) };

	inet_pton(AF_INET, host, &address.sin_addr);
	return address;
}

static int
connect_to(const char *host)
{
	struct sockaddr_in address = address_of(host);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return fd < 0 ? errno : probe_told(connect(fd, (struct sockaddr *)&address, sizeof(address)));
}

static int
other_port(void)
{
	return connect_to("127.0.0.1");
}

static int
other_port_elsewhere(void)
{
	return connect_to(probe_targets.lan);
}

static int
connect_v6(const char *host)
{
	struct sockaddr_in6 address = { .sin6_family = AF_INET6,
		.sin6_port = htons((uint16_t)probe_targets.tcp_port) };
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP);

	inet_pton(AF_INET6, host, &address.sin6_addr);
	return fd < 0 ? errno : probe_told(connect(fd, (struct sockaddr *)&address, sizeof(address)));
}

/* An address of version 4 in the clothes of version 6. */
static int
other_port_mapped(void)
{
	return connect_v6("::ffff:127.0.0.1");
}

/* Data that opens the connection on its way: no connect() for anybody to see. */
static int
fast_open(void)
{
	struct sockaddr_in address = address_of("127.0.0.1");
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return fd < 0 ? errno : probe_told(sendto(fd, "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL,
	    (struct sockaddr *)&address, sizeof(address)));
}

static int
fast_open_message(void)
{
	struct sockaddr_in address = address_of("127.0.0.1");
	struct iovec piece = { .iov_base = (char[]){ 'x' }, .iov_len = 1 };
	struct mmsghdr message = { .msg_hdr = { .msg_name = &address, .msg_namelen = sizeof(address),
	    .msg_iov = &piece, .msg_iovlen = 1 } };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), first, second;

	if (fd < 0)
		return errno;
	first = probe_told(sendmsg(fd, &message.msg_hdr, MSG_FASTOPEN | MSG_NOSIGNAL));
	second = probe_told(sendmmsg(fd, &message, 1, MSG_FASTOPEN | MSG_NOSIGNAL));
	return probe_worse(first, second);
}

/* The connection is put off until there is data, but asked for now. */
static int
deferred_open(void)
{
	struct sockaddr_in address = address_of("127.0.0.1");
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	if (fd < 0 || setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &on, sizeof(on)) < 0)
		return NOT_HERE;
	return probe_told(connect(fd, (struct sockaddr *)&address, sizeof(address)));
}

static int
other_protocol_on_top(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return probe_told(setsockopt(fd, IPPROTO_TCP, TCP_ULP, "smc", 4));
}

static int
send_datagram(void)
{
	struct sockaddr_in address = address_of("127.0.0.1");
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return fd < 0 ? errno : probe_told(sendto(fd, "x", 1, 0, (struct sockaddr *)&address,
	    sizeof(address)));
}

static int
many_paths(void)
{
	return probe_worse(probe_told(socket(AF_INET, SOCK_STREAM, MPTCP)),
	    probe_told(socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK, MPTCP)));
}

static int
ping_socket(void)
{
	return probe_told(socket(AF_INET, SOCK_DGRAM, IPPROTO_ICMP));
}

static int
raw_socket(void)
{
	return probe_told(socket(AF_INET, SOCK_RAW, IPPROTO_ICMP));
}

/* The kernel chooses a port by itself. */
static int
listen_unbound(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return fd < 0 ? errno : probe_told(listen(fd, 1));
}

static int
listen_bound(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return fd < 0 ? errno : probe_told(bind(fd, (struct sockaddr *)&address, sizeof(address)));
}

/* A name that a program of the host may look for. */
static int
take_abstract_name(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "\0probe-ports" };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return fd < 0 ? errno : probe_told(bind(fd, (struct sockaddr *)&address,
	    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 12)));
}

static int
connect_abstract(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	size_t length;

	if (!probe_targets.abstract || fd < 0)
		return NOT_HERE;
	length = strnlen(probe_targets.abstract, sizeof(address.sun_path) - 1);
	memcpy(address.sun_path + 1, probe_targets.abstract, length);
	return probe_told(connect(fd, (struct sockaddr *)&address,
	    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length)));
}

static int
packet_sockets(void)
{
	return probe_worse(probe_told(socket(AF_PACKET, SOCK_RAW, 0)),
	    probe_told(syscall(SYS_socket, 1ul << 32 | AF_PACKET, SOCK_RAW, 0)));
}

/* All that the host's interfaces, routes and sockets are. */
static int
ask_the_kernel(void)
{
	return probe_told(socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE));
}

static int
raise_interface(void)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return fd < 0 ? errno : probe_told(ioctl(fd, SIOCSIFFLAGS, &request));
}

static const struct attempt list[] = {
	{ 46, "connect to an abstract socket of the host", connect_abstract, { EPERM }, control_listeners, NULL },
	{ 46, "take an abstract name on the host", take_abstract_name, { EACCES }, control_namespaces, NULL },
	{ 50, "another port of the host's loopback", other_port, { EACCES }, control_listeners, NULL },
	{ 50, "another port of another host", other_port_elsewhere, { EACCES }, control_listeners, NULL },
	{ 50, "another port, mapped into version 6", other_port_mapped, { EACCES }, control_listeners, NULL },
	{ 50, "data that connects", fast_open, { EOPNOTSUPP }, control_listeners, NULL },
	{ 50, "a message that connects", fast_open_message, { EOPNOTSUPP }, control_listeners, NULL },
	{ 50, "a connection put off", deferred_open, { EACCES }, control_listeners, NULL },
	{ 50, "another protocol on top of TCP", other_protocol_on_top, { ENOENT }, NULL, "not every kernel has one" },
	{ 51, "listen without a port", listen_unbound, { EACCES }, control_namespaces, NULL },
	{ 51, "take a port", listen_bound, { EACCES }, control_namespaces, NULL },
	{ 52, "UDP", send_datagram, { EPROTONOSUPPORT }, control_listeners, NULL },
	{ 52, "MPTCP", many_paths, { EPROTONOSUPPORT }, NULL, "not every kernel has it" },
	{ 52, "ping", ping_socket, { EPROTONOSUPPORT }, NULL, "a sysctl says who may" },
	{ 52, "raw IP", raw_socket, { EPROTONOSUPPORT }, control_namespaces, NULL },
	{ 52, "AF_PACKET, also with a bit beyond 32", packet_sockets, { EAFNOSUPPORT }, control_namespaces, NULL },
	{ 53, "ask for interfaces and routes", ask_the_kernel, { EAFNOSUPPORT }, control_plain, NULL },
	{ 53, "raise an interface", raise_interface, { EPERM }, control_namespaces, NULL },
};

struct attempts
probe_ports(void)
{
	return (struct attempts){ list, sizeof(list) / sizeof(list[0]) };
}

/* An errand: "ADDRESS PORT". */
int
probe_connect(const char *target)
{
	char host[64];
	int port, result;

	if (sscanf(target, "%63[^ ] %d", host, &port) != 2)
		return 101;
	probe_targets.tcp_port = port;
	result = strchr(host, ':') ? connect_v6(host) : connect_to(host);
	puts(result == WORKED ? "WORKED" : strerrorname_np(result));
	return 0;
}
