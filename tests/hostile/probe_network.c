/* Sockets and IPC: 46-48, 50-54.  Nothing is ever sent but to listeners that a test made on this host. */
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <mqueue.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe.h"

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
connect_path(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), result;

	if (fd < 0)
		return errno;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	result = probe_told(connect(fd, (struct sockaddr *)&address, sizeof(address)));
	close(fd);
	return result;
}

static int
connect_services(void)
{
	static const char *const paths[] = { "/run/docker.sock", "/var/run/docker.sock", "/run/containerd/containerd.sock",
		"/run/dbus/system_bus_socket", "/run/systemd/private", "/run/systemd/notify", "/dev/log",
		"/run/agent-safe/propose.sock", "/run/agent-safe/control.sock" };
	int result = ENOENT;

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		result = probe_worse(connect_path(paths[i]), result);
	return result;
}

static int
connect_daemons(void)
{
	int result = ENOENT;

	if (probe_targets.path_count == 0)
		return NOT_HERE;
	for (size_t i = 0; i < probe_targets.path_count; i++)
		result = probe_worse(connect_path(probe_targets.paths[i]), result);
	return result;
}

/* A datagram pair instead of socket(): one end, told to forget its peer, can send to any path. */
static int
send_from_pair(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const struct sockaddr nobody = { .sa_family = AF_UNSPEC };
	int pair[2], result = ENOENT;

	if (probe_targets.path_count == 0 || socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) < 0)
		return NOT_HERE;
	connect(pair[0], &nobody, sizeof(nobody));
	for (size_t i = 0; i < probe_targets.path_count; i++) {
		snprintf(address.sun_path, sizeof(address.sun_path), "%s", probe_targets.paths[i]);
		result = probe_worse(probe_told(sendto(pair[0], "x", 1, 0,
		    (struct sockaddr *)&address, sizeof(address))), result);
	}
	return result;
}

static int
connect_tcp(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)probe_targets.tcp_port),
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (probe_targets.tcp_port == 0)
		return NOT_HERE;
	return fd < 0 ? errno : probe_told(connect(fd, (struct sockaddr *)&address, sizeof(address)));
}

/* Always a loopback address, so that nothing leaves this host when a layer is missing; the control alone listens. */
#define ELSEWHERE "127.77.7.7"
#define ELSEWHERE_PORT 4242

static struct sockaddr_in
elsewhere(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(ELSEWHERE_PORT) };

	inet_pton(AF_INET, ELSEWHERE, &address.sin_addr);
	return address;
}

static int
connect_elsewhere(void)
{
	struct sockaddr_in address = elsewhere();
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return fd < 0 ? errno : probe_told(connect(fd, (struct sockaddr *)&address, sizeof(address)));
}

/* Landlock has no rules for datagrams: the network namespace alone stands here. */
static int
send_elsewhere(void)
{
	struct sockaddr_in address = elsewhere();
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return fd < 0 ? errno : probe_told(sendto(fd, "x", 1, 0, (struct sockaddr *)&address, sizeof(address)));
}

static int
send_to_loopback(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(ELSEWHERE_PORT),
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return fd < 0 ? errno : probe_told(sendto(fd, "x", 1, 0, (struct sockaddr *)&address, sizeof(address)));
}

/* A network of its own whose loopback device has that address, and a listener. */
static void
control_elsewhere(void)
{
	struct ifreq up = { .ifr_name = "lo", .ifr_flags = IFF_UP }, name = { .ifr_name = "lo:1" };
	struct sockaddr_in address = elsewhere();
	int fd, listener;

	control_namespaces();
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	memcpy(&name.ifr_addr, &address, sizeof(address));
	if (ioctl(fd, SIOCSIFFLAGS, &up) < 0 || ioctl(fd, SIOCSIFADDR, &name) < 0 ||
	    bind(listener, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(listener, 1) < 0)
		_exit(1);
}

static int
connect_lan(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)probe_targets.tcp_port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (probe_targets.tcp_port == 0)
		return NOT_HERE;
	inet_pton(AF_INET, probe_targets.lan, &address.sin_addr);
	return fd < 0 ? errno : probe_told(connect(fd, (struct sockaddr *)&address, sizeof(address)));
}

static int
family(unsigned long domain, int type, int protocol)
{
	return probe_told(syscall(SYS_socket, domain, type, protocol));
}

static int
packet_socket(void)
{
	return family(AF_PACKET, SOCK_RAW, 0);
}

static int
dirty_packet_socket(void)
{
	return family(1ul << 32 | AF_PACKET, SOCK_RAW, 0);
}

static int
raw_socket(void)
{
	return family(AF_INET, SOCK_RAW, IPPROTO_ICMP);
}

static int
crypto_socket(void)
{
	return family(AF_ALG, SOCK_SEQPACKET, 0);
}

static int
machine_socket(void)
{
	return probe_worse(family(AF_VSOCK, SOCK_STREAM, 0), family(1ul << 32 | AF_VSOCK, SOCK_STREAM, 0));
}

static int
rare_sockets(void)
{
	static const int domains[] = { AF_BLUETOOTH, AF_KEY, 44 /* AF_XDP */, AF_TIPC, AF_RDS, AF_CAN, AF_NFC, AF_X25,
		AF_AX25, AF_APPLETALK, AF_SMC, 63, 64, 1000 };
	int result = 0;

	for (size_t i = 0; i < sizeof(domains) / sizeof(domains[0]); i++) {
		int one = family((unsigned long)domains[i], SOCK_RAW, 0);

		if (one != EAFNOSUPPORT)
			return one;
		result = one;
	}
	return result;
}

/* Bring loopback up: takes the privilege that all changes of the network take. */
static int
raise_interface(void)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return fd < 0 ? errno : probe_told(ioctl(fd, SIOCSIFFLAGS, &request));
}

static int
add_address(void)
{
	struct {
		struct nlmsghdr head;
		struct ifaddrmsg message;
		struct rtattr attribute;
		struct in_addr address;
	} request = { .head = { .nlmsg_len = sizeof(request), .nlmsg_type = RTM_NEWADDR,
	    .nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_ACK },
	    .message = { .ifa_family = AF_INET, .ifa_prefixlen = 8, .ifa_index = 1 },
	    .attribute = { .rta_len = RTA_LENGTH(4), .rta_type = IFA_LOCAL } };
	struct {
		struct nlmsghdr head;
		struct nlmsgerr error;
		char rest[512];
	} answer = { 0 };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	request.address.s_addr = htonl(INADDR_LOOPBACK + 1);
	if (fd < 0)
		return errno;
	if (send(fd, &request, sizeof(request), 0) < 0 || recv(fd, &answer, sizeof(answer), 0) < 0)
		return errno;
	return -answer.error.error;
}

static int
find_segment(void)
{
	if (probe_targets.shm_key == 0)
		return NOT_HERE;
	return probe_told(shmget(probe_targets.shm_key, 0, 0));
}

static int
find_queue(void)
{
	if (!probe_targets.queue)
		return NOT_HERE;
	return probe_told(mq_open(probe_targets.queue, O_RDONLY));
}

static int
find_network(void)
{
	struct ifreq request = { 0 };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct if_nameindex *names = if_nameindex();
	int result = HELD;

	if (fd < 0 || !names)
		return NOT_HERE;
	for (size_t i = 0; names[i].if_index; i++) {
		snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", names[i].if_name);
		if (ioctl(fd, SIOCGIFFLAGS, &request) == 0 && request.ifr_flags & IFF_UP)
			result = WORKED;
	}
	if_freenameindex(names);
	close(fd);
	return result;
}

static const struct attempt list[] = {
	{ 46, "connect to an abstract socket of the host", connect_abstract, { ECONNREFUSED, EPERM },
	    control_listeners, NULL },
	{ 47, "connect to services of the host", connect_services, { ENOENT, EACCES }, NULL, "they may not run here" },
	{ 47, "connect to the daemons", connect_daemons, { ENOENT, EACCES }, control_listeners, NULL },
	{ 48, "send from a socket pair", send_from_pair, { ENOENT, EACCES }, control_listeners, NULL },
	{ 50, "connect to the host's loopback", connect_tcp, { ENETUNREACH, ECONNREFUSED, EACCES, EAFNOSUPPORT },
	    control_listeners, NULL },
	{ 50, "connect to another host", connect_lan, { ENETUNREACH, ECONNREFUSED, EACCES }, control_listeners,
	    NULL },
	{ 52, "AF_PACKET", packet_socket, { EAFNOSUPPORT }, control_namespaces, NULL },
	{ 52, "AF_PACKET with a bit beyond 32", dirty_packet_socket, { EAFNOSUPPORT }, control_namespaces, NULL },
	{ 52, "raw IP", raw_socket, { EPERM, EACCES }, control_namespaces, NULL },
	{ 52, "AF_ALG", crypto_socket, { EAFNOSUPPORT }, NULL, "not every kernel has it" },
	{ 52, "AF_VSOCK", machine_socket, { EAFNOSUPPORT }, NULL, "not every kernel has it" },
	{ 52, "families that nobody needs", rare_sockets, { EAFNOSUPPORT }, NULL, "not every kernel has one" },
	{ 53, "raise an interface", raise_interface, { EPERM }, control_namespaces, NULL },
	{ 53, "add an address", add_address, { EPERM }, control_namespaces, NULL },
	{ 54, "find shared memory of the host", find_segment, { ENOENT }, control_listeners, NULL },
	{ 54, "find a message queue of the host", find_queue, { ENOENT, ENOSYS, EACCES }, control_listeners, NULL },
};

struct attempts
probe_network(void)
{
	return (struct attempts){ list, sizeof(list) / sizeof(list[0]) };
}

/* What a loopback of its own would answer. */
static const struct attempt without_loopback[] = {
	{ 50, "connect to another network", connect_elsewhere, { ENETUNREACH, EACCES, EAFNOSUPPORT },
	    control_elsewhere, NULL },
	{ 50, "send a datagram to another network", send_elsewhere, { ENETUNREACH, EPERM, EACCES, EAFNOSUPPORT },
	    control_elsewhere, NULL },
	{ 50, "send a datagram to loopback", send_to_loopback, { ENETUNREACH, EPERM, EACCES, EAFNOSUPPORT },
	    control_elsewhere, NULL },
	{ 50, "find a network that is up", find_network, { HELD }, NULL, "this machine may have none" },
};

struct attempts
probe_without_loopback(void)
{
	return (struct attempts){ without_loopback, sizeof(without_loopback) / sizeof(without_loopback[0]) };
}
