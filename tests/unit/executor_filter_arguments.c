/*
 * The loaded filters: what they say of a call's arguments, in every profile and network.
 * links: executor/filter.c executor/filter_sockets.c executor/filter_load.c shared/digest.c shared/log.c shared/profile.c tests/support/filter_rig.c
 * libs: -lseccomp -lsodium */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>

#include "digest.h"
#include "filter_case.h"

#define HIGH FILTER_HIGH
#define PASSED FILTER_PASSED
#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* The three kinds of sockets, with each of which any personality may be had or not. */
static const struct {
	enum profile profile;
	enum network network;
} filters[] = { { PROFILE_STRICT, NETWORK_NONE }, { PROFILE_DEFAULT, NETWORK_NONE },
	{ PROFILE_AGENT, NETWORK_LOOPBACK }, { PROFILE_COMPAT, NETWORK_TCP_PORTS },
	{ PROFILE_DEBUG, NETWORK_NONE }, { PROFILE_DEBUG, NETWORK_TCP_PORTS } };

static void
check_in_all(const struct filter_claim *claims, size_t count)
{
	for (size_t i = 0; i < COUNT(filters); i++) {
		filter_rig_choose(filters[i].profile, filters[i].network);
		filter_rig_check(claims, count);
	}
}

static void
no_namespace_can_be_cloned(void **state)
{
	static const unsigned long flags[] = { CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS,
		CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET };
	struct filter_claim claims[16] = {
		{ { SYS_clone, { SIGCHLD } }, PASSED },
		{ { SYS_clone, { CLONE_VM | CLONE_THREAD | CLONE_SIGHAND | CLONE_SETTLS } }, PASSED },
	};
	size_t count = 2;

	(void)state;
	for (size_t i = 0; i < COUNT(flags); i++) {
		claims[count++] = (struct filter_claim){ { SYS_clone, { flags[i] | SIGCHLD } }, EPERM };
		claims[count++] = (struct filter_claim){
			{ SYS_clone, { HIGH | flags[i] | CLONE_VM } }, EPERM };
	}
	check_in_all(claims, count);
}

static void
no_terminal_input_can_be_forged(void **state)
{
	static const struct filter_claim claims[] = {
		{ { SYS_ioctl, { 0, 0x5412 } }, EPERM }, { { SYS_ioctl, { 0, HIGH | 0x5412 } }, EPERM },
		{ { SYS_ioctl, { 0, 0x541c } }, EPERM }, { { SYS_ioctl, { 0, HIGH | 0x541c } }, EPERM },
		{ { SYS_ioctl, { 0, 0x5401 } }, PASSED },
	};

	(void)state;
	check_in_all(claims, COUNT(claims));
}

static void
check_set_id(enum profile profile, unsigned long bits)
{
	const unsigned long mode = 0755 | bits;
	const int node = profile == PROFILE_STRICT ? ENOSYS : EPERM; /* it has no mknod */
	const struct filter_claim claims[] = {
		{ { SYS_fchmod, { 0, mode } }, EPERM },
		{ { SYS_fchmodat, { 0, 0, mode } }, EPERM },
		{ { SYS_fchmodat, { 0, 0, HIGH | mode } }, EPERM },
		{ { SYS_mkdirat, { 0, 0, mode } }, EPERM },
		{ { SYS_mknodat, { 0, 0, S_IFREG | mode } }, node },
		{ { SYS_openat, { 0, 0, O_WRONLY | O_CREAT, mode } }, EPERM },
		{ { SYS_openat, { 0, 0, O_WRONLY | O_TMPFILE, mode } }, EPERM },
#ifdef __x86_64__
		{ { SYS_chmod, { 0, mode } }, EPERM },
		{ { SYS_creat, { 0, mode } }, EPERM },
		{ { SYS_mkdir, { 0, mode } }, EPERM },
		{ { SYS_mknod, { 0, S_IFREG | mode } }, node },
		{ { SYS_open, { 0, O_WRONLY | O_CREAT, mode } }, EPERM },
#endif
		/* Without O_CREAT the kernel does not look at the mode, and libcs leave dirt there. */
		{ { SYS_openat, { 0, 0, O_RDONLY | O_DIRECTORY, mode } }, PASSED },
		{ { SYS_fchmod, { 0, 01777 } }, PASSED },
		{ { SYS_openat, { 0, 0, O_CREAT, 0777 } }, PASSED },
	};

	filter_rig_check(claims, COUNT(claims));
}

static void
no_set_id_bit_can_be_made(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(filters); i++) {
		filter_rig_choose(filters[i].profile, filters[i].network);
		check_set_id(filters[i].profile, S_ISUID);
		check_set_id(filters[i].profile, S_ISGID);
		check_set_id(filters[i].profile, S_ISUID | S_ISGID);
	}
}

static void
two_personalities_but_for_debuggers(void **state)
{
	static const unsigned long others[] = { 1, 8, 0x0400000, 0x0040000, 0x80000000, 0xfffffffe,
		0x7fffffff, HIGH | 0x0400000, 0xfffffffffffffffe };

	(void)state;
	for (size_t i = 0; i < COUNT(filters); i++) {
		struct filter_claim claims[16] = { { { SYS_personality, { 0 } }, PASSED },
			{ { SYS_personality, { 0xffffffff } }, PASSED } };
		bool debug = filters[i].profile == PROFILE_DEBUG;

		for (size_t k = 0; k < COUNT(others); k++)
			claims[2 + k] = (struct filter_claim){ { SYS_personality, { others[k] } },
				debug ? PASSED : EPERM };
		filter_rig_choose(filters[i].profile, filters[i].network);
		filter_rig_check(claims, 2 + COUNT(others));
	}
}

static void
limits_of_others_stay_when_the_uid_is_shared(void **state)
{
	static const struct filter_claim claims[] = { { { SYS_prlimit64, { 0 } }, PASSED },
		{ { SYS_prlimit64, { 1 } }, EPERM }, { { SYS_prlimit64, { HIGH } }, EPERM } };

	(void)state;
	check_in_all(claims, COUNT(claims));
}

/* Families that a filter lets through, with a stream of protocol 0; and none with dirt above. */
static void
check_families(const int *allowed, size_t count)
{
	struct filter_claim claims[160] = { 0 };
	size_t at = 0;

	for (unsigned long family = 0; family < 70; family++) {
		int answer = EAFNOSUPPORT;

		for (size_t i = 0; i < count; i++)
			if (allowed[i] == (int)family)
				answer = PASSED;
		claims[at++] = (struct filter_claim){ { SYS_socket, { family, SOCK_STREAM } }, answer };
		claims[at++] = (struct filter_claim){ { SYS_socket, { HIGH | family, SOCK_STREAM } },
			EAFNOSUPPORT };
	}
	filter_rig_check(claims, at);
}

static void
socket_families_are_those_of_the_network(void **state)
{
	static const int usual[] = { AF_UNIX, AF_INET, AF_INET6, AF_NETLINK };
	static const int ports[] = { AF_UNIX, AF_INET, AF_INET6 };

	(void)state;
	filter_rig_choose(PROFILE_STRICT, NETWORK_NONE);
	check_families(NULL, 0);
	filter_rig_choose(PROFILE_DEFAULT, NETWORK_NONE);
	check_families(usual, COUNT(usual));
	filter_rig_choose(PROFILE_AGENT, NETWORK_LOOPBACK);
	check_families(usual, COUNT(usual));
	filter_rig_choose(PROFILE_DEFAULT, NETWORK_TCP_PORTS);
	check_families(ports, COUNT(ports));
}

/* A pair of datagrams could forget its peer and send to any path. */
static void
strict_has_pairs_of_streams_alone(void **state)
{
	static const struct filter_claim claims[] = {
		{ { SYS_socketpair, { AF_UNIX, SOCK_STREAM } }, PASSED },
		{ { SYS_socketpair, { AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK } }, PASSED },
		{ { SYS_socketpair, { AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC } }, PASSED },
		{ { SYS_socketpair, { AF_UNIX, SOCK_DGRAM } }, EPROTONOSUPPORT },
		{ { SYS_socketpair, { AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC } }, EPROTONOSUPPORT },
		{ { SYS_socketpair, { AF_UNIX, HIGH | SOCK_DGRAM } }, EPROTONOSUPPORT },
		{ { SYS_socketpair, { AF_UNIX, SOCK_RAW } }, EPROTONOSUPPORT },
		{ { SYS_socketpair, { AF_UNIX, 0 } }, EPROTONOSUPPORT },
		{ { SYS_socketpair, { AF_INET, SOCK_STREAM } }, EAFNOSUPPORT },
		{ { SYS_socketpair, { HIGH | AF_UNIX, SOCK_STREAM } }, EAFNOSUPPORT },
	};

	(void)state;
	filter_rig_choose(PROFILE_STRICT, NETWORK_NONE);
	filter_rig_check(claims, COUNT(claims));
}

static void
check_internet_sockets(unsigned long family)
{
	const unsigned long flags = SOCK_CLOEXEC | SOCK_NONBLOCK;
	struct filter_claim claims[512] = {
		{ { SYS_socket, { family, SOCK_STREAM, 0 } }, PASSED },
		{ { SYS_socket, { family, SOCK_STREAM | flags, IPPROTO_TCP } }, PASSED },
		{ { SYS_socket, { family, HIGH | SOCK_STREAM, HIGH | IPPROTO_TCP } }, PASSED },
	};
	size_t count = 3;

	for (unsigned long type = 0; type < 16; type++)
		if (type != SOCK_STREAM) {
			claims[count++] = (struct filter_claim){ { SYS_socket, { family, type } },
				EPROTONOSUPPORT };
			claims[count++] = (struct filter_claim){
				{ SYS_socket, { family, HIGH | type | flags } }, EPROTONOSUPPORT };
		}
	for (unsigned long protocol = 1; protocol < 300; protocol++) /* 262 is MPTCP */
		if (protocol != IPPROTO_TCP)
			claims[count++] = (struct filter_claim){
				{ SYS_socket, { family, SOCK_STREAM, protocol } }, EPROTONOSUPPORT };
	for (unsigned bit = 3; bit < 32; bit++)
		claims[count++] = (struct filter_claim){
			{ SYS_socket, { family, SOCK_STREAM, 1ul << bit | IPPROTO_TCP } },
			EPROTONOSUPPORT };
	filter_rig_check(claims, count);
}

static void
in_the_hosts_network_the_internet_is_tcp(void **state)
{
	(void)state;
	filter_rig_choose(PROFILE_DEFAULT, NETWORK_TCP_PORTS);
	check_internet_sockets(AF_INET);
	check_internet_sockets(AF_INET6);
}

static void
in_the_hosts_network_nothing_listens_and_only_connect_connects(void **state)
{
	static const struct filter_claim claims[] = {
		{ { SYS_bind, { 0 } }, EACCES }, { { SYS_listen, { 0 } }, EACCES },
		{ { SYS_accept, { 0 } }, EACCES }, { { SYS_accept4, { 0 } }, EACCES },
		{ { SYS_connect, { 0 } }, PASSED },
		{ { SYS_sendto, { 0, 0, 0, MSG_NOSIGNAL } }, PASSED },
		{ { SYS_sendto, { 0, 0, 0, MSG_FASTOPEN } }, EOPNOTSUPP },
		{ { SYS_sendto, { 0, 0, 0, HIGH | MSG_FASTOPEN | MSG_NOSIGNAL } }, EOPNOTSUPP },
		{ { SYS_sendmsg, { 0, 0, MSG_FASTOPEN } }, EOPNOTSUPP },
		{ { SYS_sendmmsg, { 0, 0, 0, MSG_FASTOPEN } }, EOPNOTSUPP },
		{ { SYS_sendmsg, { 0, 0, MSG_NOSIGNAL } }, PASSED },
		{ { SYS_setsockopt, { 0, IPPROTO_TCP, 31 /* TCP_ULP */ } }, ENOENT },
		{ { SYS_setsockopt, { 0, HIGH | IPPROTO_TCP, HIGH | 31 } }, ENOENT },
		{ { SYS_setsockopt, { 0, IPPROTO_TCP, 1 /* TCP_NODELAY */ } }, PASSED },
		{ { SYS_setsockopt, { 0, SOL_SOCKET, 31 } }, PASSED },
	};

	(void)state;
	filter_rig_choose(PROFILE_DEFAULT, NETWORK_TCP_PORTS);
	filter_rig_check(claims, COUNT(claims));
	filter_rig_choose(PROFILE_AGENT, NETWORK_TCP_PORTS);
	filter_rig_check(claims, COUNT(claims));
}

static int
build(void **state)
{
	(void)state;
	digest_open();
	filter_open(true, PROFILE_DEBUG, NETWORK_TCP_PORTS);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_namespace_can_be_cloned),
		cmocka_unit_test(no_terminal_input_can_be_forged),
		cmocka_unit_test(no_set_id_bit_can_be_made),
		cmocka_unit_test(two_personalities_but_for_debuggers),
		cmocka_unit_test(limits_of_others_stay_when_the_uid_is_shared),
		cmocka_unit_test(socket_families_are_those_of_the_network),
		cmocka_unit_test(strict_has_pairs_of_streams_alone),
		cmocka_unit_test(in_the_hosts_network_the_internet_is_tcp),
		cmocka_unit_test(in_the_hosts_network_nothing_listens_and_only_connect_connects),
	};

	return cmocka_run_group_tests(tests, build, NULL);
}
