/* Every row of messages.def through shared/channel.c: right it arrives, wrong in any way it is a breach.
 * links: shared/channel.c shared/messages.c shared/log.c */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/wait.h>

#include <fcntl.h>
#include <stdlib.h>

#include "channel.h"
#include "wire.h"

static int ends[2];    /* 0: the stranger's, 1: the receiver's */
static int spare = -1; /* any descriptor to send */
static unsigned char body[sizeof(struct message) + 64];

static int
open_pair(void **state)
{
	(void)state;
	spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
	for (size_t i = 0; i < sizeof(body); i++)
		body[i] = (unsigned char)(i * 7 + 1);
	return spare < 0 ? -1 : socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends);
}

static int
close_pair(void **state)
{
	(void)state;
	close(spare);
	close(ends[0]);
	close(ends[1]);
	return 0;
}

/* What the receiver of `rule` makes of such a packet from `peer`; descriptors must not leak. */
static enum channel_got
take(enum process self, enum process peer, uint32_t type, size_t size, int count, struct message *message)
{
	struct channel channel = { ends[1], self, peer };
	int before = wire_open_descriptors();
	const char *why = NULL;
	enum channel_got got;

	assert_int_equal(wire_send(ends[0], type, body, size, spare, count), 0);
	got = channel_take(&channel, message, &why);
	if (got == CHANNEL_BREACH)
		assert_non_null(why);
	if (got == CHANNEL_MESSAGE)
		for (int i = 0; i < count; i++)
			close(message->descriptors[i]);
	assert_int_equal(wire_open_descriptors(), before);
	return got;
}

static void
assert_breach(uint32_t type, const char *what, enum channel_got got)
{
	if (got != CHANNEL_BREACH)
		fail_msg("%s %s: %d, not a breach", type < MSG_COUNT && type ? message_rules[type].name : "?", what, got);
}

static void
every_row_is_whole(void **state)
{
	(void)state;
	for (uint32_t type = 1; type < MSG_COUNT; type++) {
		const struct message_rule *rule = &message_rules[type];

		assert_non_null(rule->name);
		assert_in_range(rule->sender, 1, PROCESS_COUNT - 1);
		assert_in_range(rule->receiver, 1, PROCESS_COUNT - 1);
		assert_int_not_equal(rule->sender, rule->receiver);
		assert_in_range(rule->descriptors, 0, MESSAGE_DESCRIPTORS);
		assert_in_range(rule->size, 4, sizeof(((struct message *)0)->body));
	}
}

static void
every_row_arrives_as_sent(void **state)
{
	(void)state;
	for (uint32_t type = 1; type < MSG_COUNT; type++) {
		const struct message_rule *rule = &message_rules[type];
		struct message message = { 0 };

		assert_int_equal(take(rule->receiver, rule->sender, type, rule->size, rule->descriptors, &message),
		    CHANNEL_MESSAGE);
		assert_int_equal(message.type, type);
		assert_memory_equal(&message.body, body, rule->size);
	}
}

static void
every_row_survives_send_and_receive(void **state)
{
	(void)state;
	for (uint32_t type = 1; type < MSG_COUNT; type++) {
		const struct message_rule *rule = &message_rules[type];
		struct channel out = { ends[0], rule->sender, rule->receiver };
		struct channel in = { ends[1], rule->receiver, rule->sender };
		struct message sent = { .type = (enum message_type)type, .descriptors = { spare, spare } }, got = { 0 };
		int before = wire_open_descriptors();

		memcpy(&sent.body, body, rule->size);
		assert_int_equal(channel_send(&out, &sent), 0);
		assert_int_equal(channel_receive(&in, &got), CHANNEL_MESSAGE);
		assert_int_equal(got.type, type);
		assert_memory_equal(&got.body, body, rule->size);
		for (int i = 0; i < rule->descriptors; i++) {
			assert_int_equal(fcntl(got.descriptors[i], F_GETFD), FD_CLOEXEC);
			close(got.descriptors[i]);
		}
		assert_int_equal(wire_open_descriptors(), before);
	}
}

static void
another_sender_or_receiver_is_a_breach(void **state)
{
	struct message message;

	(void)state;
	for (uint32_t type = 1; type < MSG_COUNT; type++) {
		const struct message_rule *rule = &message_rules[type];

		for (enum process self = 1; self < PROCESS_COUNT; self++)
			for (enum process peer = 1; peer < PROCESS_COUNT; peer++)
				if (self != rule->receiver || peer != rule->sender)
					assert_breach(type, "between others",
					    take(self, peer, type, rule->size, rule->descriptors, &message));
	}
}

static void
another_size_is_a_breach(void **state)
{
	struct message message;

	(void)state;
	for (uint32_t type = 1; type < MSG_COUNT; type++) {
		const struct message_rule *rule = &message_rules[type];
		const size_t sizes[] = { 0, rule->size - 1, rule->size + 1, sizeof(message.body) + 1, sizeof(body) };

		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
			assert_breach(type, "with another size",
			    take(rule->receiver, rule->sender, type, sizes[i], rule->descriptors, &message));
	}
}

static void
another_number_of_descriptors_is_a_breach(void **state)
{
	struct message message;

	(void)state;
	for (uint32_t type = 1; type < MSG_COUNT; type++) {
		const struct message_rule *rule = &message_rules[type];

		for (int count = 0; count <= WIRE_DESCRIPTORS_MOST; count++)
			if (count != rule->descriptors)
				assert_breach(type, "with other descriptors",
				    take(rule->receiver, rule->sender, type, rule->size, count, &message));
	}
}

static void
types_outside_the_table_are_breaches(void **state)
{
	static const uint32_t types[] = { 0, MSG_COUNT, MSG_COUNT + 1, 0x7fffffff, 0x80000000, UINT32_MAX };
	struct message message;

	(void)state;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		for (size_t size = 0; size < 64; size += 8)
			assert_breach(types[i], "type", take(PROCESS_AUDITOR, PROCESS_BROKER, types[i], size, 0, &message));
}

static void
a_packet_without_a_whole_type_is_a_breach(void **state)
{
	struct channel channel = { ends[1], PROCESS_AUDITOR, PROCESS_BROKER };
	struct message message;

	(void)state;
	for (size_t size = 1; size < sizeof(uint32_t); size++) {
		assert_int_equal(send(ends[0], body, size, 0), (ssize_t)size);
		assert_int_equal(channel_take(&channel, &message, NULL), CHANNEL_BREACH);
	}
}

static void
other_ancillary_data_is_a_breach(void **state)
{
	struct channel channel = { ends[1], PROCESS_AUDITOR, PROCESS_BROKER };
	const struct message_rule *rule = &message_rules[MSG_LOG_SEAL];
	struct message message;
	const char *why = NULL;
	int on = 1;

	(void)state;
	/* The kernel adds credentials to each packet then: data that nobody asked for. */
	assert_int_equal(setsockopt(ends[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)), 0);
	assert_int_equal(wire_send(ends[0], MSG_LOG_SEAL, body, rule->size, spare, 0), 0);
	assert_int_equal(channel_take(&channel, &message, &why), CHANNEL_BREACH);
	assert_string_equal(why, "ancillary data");
	on = 0;
	assert_int_equal(setsockopt(ends[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)), 0);
}

static void
silence_and_the_end_are_told_apart(void **state)
{
	struct channel channel = { ends[1], PROCESS_AUDITOR, PROCESS_BROKER };
	struct message message;

	(void)state;
	assert_int_equal(channel_take(&channel, &message, NULL), CHANNEL_EMPTY);
	assert_int_equal(shutdown(ends[0], SHUT_WR), 0);
	assert_int_equal(channel_take(&channel, &message, NULL), CHANNEL_CLOSED);
}

static void
an_empty_packet_with_a_descriptor_is_not_the_end(void **state)
{
	struct channel channel = { ends[1], PROCESS_AUDITOR, PROCESS_BROKER };
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct msghdr packet = { .msg_control = &control, .msg_controllen = sizeof(control) };
	struct message message;
	int before = wire_open_descriptors();

	(void)state;
	control.header = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET,
		.cmsg_type = SCM_RIGHTS };
	memcpy(CMSG_DATA(&control.header), &spare, sizeof(spare));
	assert_int_equal(sendmsg(ends[0], &packet, 0), 0);
	assert_int_equal(channel_take(&channel, &message, NULL), CHANNEL_BREACH);
	assert_int_equal(wire_open_descriptors(), before);
}

static void
a_peer_that_does_not_read_is_told_and_not_waited_for(void **state)
{
	struct channel channel = { ends[0], PROCESS_BROKER, PROCESS_AUDITOR };
	struct message message = { .type = MSG_LOG_SEAL };
	int sent = 0;

	(void)state;
	while (sent < 100000 && channel_send(&channel, &message) == 0)
		sent++;
	assert_int_equal(errno, EAGAIN);
	assert_in_range(sent, 1, 99999);
}

static void
a_peer_that_is_gone_is_told(void **state)
{
	struct channel channel = { ends[0], PROCESS_BROKER, PROCESS_AUDITOR };
	struct message message = { .type = MSG_LOG_SEAL };

	(void)state;
	close(ends[1]);
	ends[1] = -1;
	assert_int_equal(channel_send(&channel, &message), -1);
	assert_int_equal(errno, EPIPE);
}

/* A peer that ends with messages of ours unread: the kernel says ECONNRESET before what it had sent. */
static void
what_a_peer_sent_arrives_also_when_it_ended_without_reading(void **state)
{
	struct channel channel = { ends[1], PROCESS_KEEPER, PROCESS_INIT };
	struct message message = { .type = MSG_INIT_BEGIN };

	(void)state;
	assert_int_equal(wire_send(ends[0], MSG_INIT_ENDED, body, sizeof(struct msg_init_ended), spare, 0), 0);
	assert_int_equal(channel_send(&channel, &message), 0);
	close(ends[0]);
	ends[0] = -1;
	assert_int_equal(channel_take(&channel, &message, NULL), CHANNEL_MESSAGE);
	assert_int_equal(message.type, MSG_INIT_ENDED);
	assert_int_equal(channel_take(&channel, &message, NULL), CHANNEL_CLOSED);
}

/* channel_receive() in a child: a breach must end it with status 1 and one line that names it. */
static void
a_breach_ends_the_receiver_with_one_line(void **state)
{
	char line[512] = { 0 };
	int words[2], status;
	ssize_t length;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe2(words, O_CLOEXEC), 0);
	assert_int_equal(wire_send(ends[0], MSG_RUN_START, body, 1, spare, 0), 0);
	pid = fork();
	if (pid == 0) {
		struct channel channel = { ends[1], PROCESS_EXECUTOR, PROCESS_BROKER };
		struct message message;

		dup2(words[1], STDERR_FILENO);
		channel_receive(&channel, &message);
		_exit(0);
	}
	close(words[1]);
	length = read(words[0], line, sizeof(line) - 1);
	assert_true(length > 0);
	assert_int_equal(read(words[0], body, 1), 0);
	close(words[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
	assert_string_equal(line, "<2>agent-safe: breach by broker: wrong size\n");
}

#define pair_test(test) cmocka_unit_test_setup_teardown(test, open_pair, close_pair)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_is_whole),
		pair_test(every_row_arrives_as_sent),
		pair_test(every_row_survives_send_and_receive),
		pair_test(another_sender_or_receiver_is_a_breach),
		pair_test(another_size_is_a_breach),
		pair_test(another_number_of_descriptors_is_a_breach),
		pair_test(types_outside_the_table_are_breaches),
		pair_test(a_packet_without_a_whole_type_is_a_breach),
		pair_test(other_ancillary_data_is_a_breach),
		pair_test(silence_and_the_end_are_told_apart),
		pair_test(an_empty_packet_with_a_descriptor_is_not_the_end),
		pair_test(a_peer_that_does_not_read_is_told_and_not_waited_for),
		pair_test(a_peer_that_is_gone_is_told),
		pair_test(what_a_peer_sent_arrives_also_when_it_ended_without_reading),
		pair_test(a_breach_ends_the_receiver_with_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
