/*
 * Every row of messages.def, sent right and wrong to each shipped process by stand-ins at its
 * channels.  A new row is covered unasked.
 * links: tests/support/daemon.c shared/messages.c shared/boot.c shared/fields.c shared/text.c shared/tcp_ports.c
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/wait.h>

#include <stdio.h>
#include <string.h>

#include "daemon.h"
#include "fields.h"
#include "wire.h"

static const struct daemon_kind kinds[] = {
	{ "agent-safe-broker", PROCESS_BROKER, { PROCESS_EXECUTOR, PROCESS_AUDITOR }, true },
	{ "agent-safe-executor", PROCESS_EXECUTOR, { PROCESS_BROKER, PROCESS_AUDITOR }, true },
	{ "agent-safe-auditor", PROCESS_AUDITOR, { PROCESS_BROKER, PROCESS_EXECUTOR }, true },
	{ "agent-safe-keeper", PROCESS_KEEPER, { PROCESS_EXECUTOR, PROCESS_INIT }, false },
	{ "agent-safe-courier", PROCESS_COURIER, { PROCESS_AUDITOR }, true },
};

/* What shared/channel.c says of a packet that breaks the table. */
static const char *const reasons[] = { "unknown type", "wrong sender or receiver", "wrong size",
	"wrong number of descriptors", "truncated", "ancillary data" };

#define COMPLAINTS_MOST 10

static struct daemon daemon_now;
static int failures, packets, sealed = -1;

static const char *
row_name(uint32_t type)
{
	return type > 0 && type < MSG_COUNT ? message_rules[type].name : "no row";
}

/* Send one packet, then nothing more on that channel; what it did is in daemon_now. */
static bool
send_one(const struct daemon_kind *kind, int channel, uint32_t type, size_t size, int descriptors)
{
	static const unsigned char body[sizeof(struct message) + 64];
	bool hung_up;

	packets++;
	daemon_start(kind, &daemon_now);
	wire_send(daemon_now.channels[channel], type, body, size, sealed, descriptors);
	shutdown(daemon_now.channels[channel], SHUT_WR);
	hung_up = daemon_hangs_up(&daemon_now, channel, 5000);
	daemon_end(&daemon_now);
	return hung_up;
}

static void
complain(const struct daemon_kind *kind, int channel, uint32_t type, const char *what, const char *wrong)
{
	if (++failures > COMPLAINTS_MOST)
		return;
	print_message("# %s: %s %s from %s: %s\n", kind->binary, row_name(type), what,
	    process_name(kind->peers[channel]), wrong);
	for (char *line = strtok(daemon_now.words, "\n"); line; line = strtok(NULL, "\n"))
		print_message("#   it said: %s\n", line);
}

/* It must hang up, say why in one of the table's words, and end where a breach ends it. */
static void
send_wrong(const struct daemon_kind *kind, int channel, uint32_t type, const char *what, size_t size, int descriptors,
    const char *reason)
{
	bool hung_up = send_one(kind, channel, type, size, descriptors);
	const char *line = strstr(daemon_now.words, reason);

	if (!line && strcmp(reason, "wrong size") == 0)
		line = strstr(daemon_now.words, "truncated");
	if (!hung_up)
		complain(kind, channel, type, what, "it goes on");
	else if (!line)
		complain(kind, channel, type, what, "no word of the breach");
	else if (kind->breach_ends_it && (!strstr(daemon_now.words, "breach by ") ||
	    !WIFEXITED(daemon_now.status) || WEXITSTATUS(daemon_now.status) != 1))
		complain(kind, channel, type, what, "not the end with status 1 and a breach line");
}

/* As ruled it may be ignored or refused by what it says, but the table must let it pass. */
static void
send_right(const struct daemon_kind *kind, int channel, uint32_t type)
{
	const struct message_rule *rule = &message_rules[type];

	send_one(kind, channel, type, rule->size, rule->descriptors);
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (strstr(daemon_now.words, reasons[i])) {
			complain(kind, channel, type, "as ruled", "taken for a breach");
			return;
		}
	if (WIFSIGNALED(daemon_now.status))
		complain(kind, channel, type, "as ruled", strsignal(WTERMSIG(daemon_now.status)));
}

static void
try_row(const struct daemon_kind *kind, int channel, uint32_t type)
{
	const struct message_rule *rule = &message_rules[type];
	int count = rule->descriptors;

	if (rule->receiver != kind->self || rule->sender != kind->peers[channel]) {
		send_wrong(kind, channel, type, "of others", rule->size, count, "wrong sender or receiver");
		return;
	}
	send_right(kind, channel, type);
	send_wrong(kind, channel, type, "short", rule->size - 1, count, "wrong size");
	send_wrong(kind, channel, type, "empty", 0, count, "wrong size");
	send_wrong(kind, channel, type, "long", rule->size + 1, count, "wrong size");
	send_wrong(kind, channel, type, "extra descriptor", rule->size, count + 1,
	    count + 1 > MESSAGE_DESCRIPTORS ? "ancillary data" : "wrong number of descriptors");
	if (count > 0)
		send_wrong(kind, channel, type, "without descriptor", rule->size, 0, "wrong number of descriptors");
}

static void
try_kind(const struct daemon_kind *kind)
{
	const char *obstacle = daemon_obstacle(kind);

	if (obstacle) {
		print_message("# skip: %s\n", obstacle);
		skip();
	}
	failures = packets = 0;
	for (int channel = 0; channel < DAEMON_CHANNELS && kind->peers[channel] != 0; channel++) {
		for (uint32_t type = 1; type < MSG_COUNT; type++)
			try_row(kind, channel, type);
		send_wrong(kind, channel, 0, "type 0", 8, 0, "unknown type");
		send_wrong(kind, channel, MSG_COUNT, "type MSG_COUNT", 8, 0, "unknown type");
		send_wrong(kind, channel, UINT32_MAX, "the largest type", 8, 0, "unknown type");
	}
	print_message("# %s: %d packets, %d failures\n", kind->binary, packets, failures);
	assert_int_equal(failures, 0);
}

static void
broker_keeps_to_the_table(void **state)
{
	(void)state;
	try_kind(&kinds[0]);
}

static void
executor_keeps_to_the_table(void **state)
{
	(void)state;
	try_kind(&kinds[1]);
}

static void
auditor_keeps_to_the_table(void **state)
{
	(void)state;
	try_kind(&kinds[2]);
}

static void
keeper_keeps_to_the_table(void **state)
{
	(void)state;
	try_kind(&kinds[3]);
}

static void
courier_keeps_to_the_table(void **state)
{
	(void)state;
	try_kind(&kinds[4]);
}

static int
open_all(void **state)
{
	(void)state;
	sealed = sealed_make("empty", NULL, 0);
	return sealed >= 0 && daemon_open() ? 0 : -1;
}

static int
close_all(void **state)
{
	(void)state;
	daemon_close();
	close(sealed);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(broker_keeps_to_the_table),
		cmocka_unit_test(executor_keeps_to_the_table),
		cmocka_unit_test(auditor_keeps_to_the_table),
		cmocka_unit_test(keeper_keeps_to_the_table),
		cmocka_unit_test(courier_keeps_to_the_table),
	};

	return cmocka_run_group_tests(tests, open_all, close_all);
}
