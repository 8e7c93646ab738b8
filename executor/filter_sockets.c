/* Which sockets a job may have. */
#include <sys/socket.h>

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stddef.h>

#include "filter_rule.h"

#define FAMILIES 64          /* AF_MAX is 46 in Linux 6.18 */
#define SOCKET_TYPE_MASK 0xf /* of linux/net.h; above are SOCK_CLOEXEC and SOCK_NONBLOCK */

/* Families that are rare are rare because their code is: only those of the list. */
static void
refuse_families(scmp_filter_ctx filter, const unsigned *allowed, size_t count)
{
	for (unsigned family = 0; family < FAMILIES; family++) {
		bool usual = false;

		for (size_t i = 0; i < count; i++)
			usual |= allowed[i] == family;
		if (!usual)
			filter_rule_if(filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), "socket",
			    SCMP_A0_64(SCMP_CMP_EQ, family, 0));
	}
	filter_rule_if(filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), "socket",
	    SCMP_A0_64(SCMP_CMP_GE, FAMILIES, 0));
}

/*
 * No socket but a connected pair of streams: one of datagrams can be told to forget its peer, and
 * then sends to any path.
 */
static void
refuse_all_but_pairs(scmp_filter_ctx filter)
{
	refuse_families(filter, NULL, 0);
	filter_rule_if(filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), "socketpair",
	    SCMP_A0_64(SCMP_CMP_NE, AF_UNIX, 0));
	for (unsigned type = 0; type <= SOCKET_TYPE_MASK; type++)
		if (type != SOCK_STREAM && type != SOCK_SEQPACKET)
			filter_rule_if(filter, SCMP_ACT_ERRNO(EPROTONOSUPPORT), "socketpair",
			    SCMP_A1_64(SCMP_CMP_MASKED_EQ, SOCKET_TYPE_MASK, type));
}

/* Landlock sees neither UDP nor MPTCP: of the internet only streams of protocol 0 or TCP. */
static void
refuse_all_but_tcp(scmp_filter_ctx filter, unsigned family)
{
	const uint32_t refused = SCMP_ACT_ERRNO(EPROTONOSUPPORT);
	const struct scmp_arg_cmp is_family = SCMP_A0_64(SCMP_CMP_EQ, family, 0);
	int number = SCMP_SYS(socket);

	for (unsigned type = 0; type <= SOCKET_TYPE_MASK; type++)
		if (type != SOCK_STREAM)
			filter_check(seccomp_rule_add(filter, refused, number, 2, is_family,
			    SCMP_A1_64(SCMP_CMP_MASKED_EQ, SOCKET_TYPE_MASK, type)), "socket");
	/* 0 and 6 have no bit but these two; of 2 and 4, which have no other either, each is one. */
	for (unsigned bit = 0; bit < 32; bit++)
		if (!(IPPROTO_TCP >> bit & 1))
			filter_check(seccomp_rule_add(filter, refused, number, 2, is_family,
			    SCMP_A2_64(SCMP_CMP_MASKED_EQ, 1u << bit, 1u << bit)), "socket");
	for (unsigned protocol = 2; protocol <= 4; protocol += 2)
		filter_check(seccomp_rule_add(filter, refused, number, 2, is_family,
		    SCMP_A2_64(SCMP_CMP_MASKED_EQ, FILTER_CALL_WORD, protocol)), "socket");
}

/*
 * In the host's network, where Landlock looks at bind() and connect() of TCP alone:
 *   - listen() on a fresh socket takes a port by itself, and bind() an abstract name that a host's
 *     program may look for: nothing listens, of whatever family;
 *   - data with MSG_FASTOPEN connects without connect();
 *   - a socket that another protocol has taken over (TCP_ULP) is not TCP any more.
 */
static void
refuse_all_but_connecting(scmp_filter_ctx filter)
{
	static const unsigned families[] = { AF_UNIX, AF_INET, AF_INET6 };
	static const char *const listening[] = { "bind", "listen", "accept", "accept4" };
	static const struct {
		const char *name;
		unsigned flags; /* which argument they are */
	} sending[] = { { "sendto", 3 }, { "sendmsg", 2 }, { "sendmmsg", 3 } };

	refuse_families(filter, families, sizeof(families) / sizeof(families[0]));
	refuse_all_but_tcp(filter, AF_INET);
	refuse_all_but_tcp(filter, AF_INET6);
	for (size_t i = 0; i < sizeof(listening) / sizeof(listening[0]); i++)
		filter_rule(filter, SCMP_ACT_ERRNO(EACCES), listening[i]);
	for (size_t i = 0; i < sizeof(sending) / sizeof(sending[0]); i++)
		filter_rule_if(filter, SCMP_ACT_ERRNO(EOPNOTSUPP), sending[i].name,
		    SCMP_CMP64(sending[i].flags, SCMP_CMP_MASKED_EQ, MSG_FASTOPEN, MSG_FASTOPEN));
	filter_check(seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOENT), SCMP_SYS(setsockopt), 2,
	    SCMP_A1_64(SCMP_CMP_MASKED_EQ, FILTER_CALL_WORD, IPPROTO_TCP),
	    SCMP_A2_64(SCMP_CMP_MASKED_EQ, FILTER_CALL_WORD, TCP_ULP)), "setsockopt");
}

void
filter_refuse_sockets(scmp_filter_ctx filter, enum filter_sockets sockets)
{
	/* In a network namespace of its own a job may do with these what it likes. */
	static const unsigned families[] = { AF_UNIX, AF_INET, AF_INET6, AF_NETLINK };

	if (sockets == SOCKETS_PAIRS)
		refuse_all_but_pairs(filter);
	else if (sockets == SOCKETS_TCP)
		refuse_all_but_connecting(filter);
	else
		refuse_families(filter, families, sizeof(families) / sizeof(families[0]));
}
