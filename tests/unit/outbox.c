/* Delivery of records, of broker/outbox.c, with the auditor's end of the channel in this process.
 * links: broker/outbox.c broker/letters.c broker/store.c broker/store_care.c broker/store_tables.c broker/jobs.c broker/job.c broker/bytes.c shared/channel.c shared/messages.c shared/fields.c shared/loop.c shared/digest.c shared/json.c shared/json_bytes.c shared/json_find.c shared/json_scan.c shared/json_token.c shared/json_write.c shared/base64.c shared/text.c shared/log.c
 * libs: -lsqlite3 -lsodium -lcjson */
#include <sys/socket.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "fields.h"
#include "limits.h"
#include "outbox.h"
#include "queue.h"

#define NONE UINT64_MAX

static struct channel near_end, far_end;
static struct outbox outbox;

static int
setup(void **state)
{
	int pair[2];

	if (queue_setup(state) < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) < 0)
		return -1;
	near_end = (struct channel){ pair[0], PROCESS_BROKER, PROCESS_AUDITOR };
	far_end = (struct channel){ pair[1], PROCESS_AUDITOR, PROCESS_BROKER };
	outbox_open(&outbox, *state, &near_end);
	return 0;
}

static int
teardown(void **state)
{
	close(near_end.fd);
	close(far_end.fd);
	return queue_teardown(state);
}

static uint64_t
add(const char *text)
{
	struct json *d = json_object();
	uint64_t sn;

	json_add_text(d, "text", text);
	store_begin(outbox.store);
	sn = outbox_add(&outbox, "job.retry", d, false, 0);
	outbox_commit(&outbox);
	return sn;
}

static void
welcome(uint64_t last_sn, bool known)
{
	struct msg_broker_welcome message = { .last_sn = last_sn, .acked_known = known };

	outbox_welcome(&outbox, &message);
}

/* The next record that was sent must be this one; -1: nothing was sent. */
static void
expect(int64_t sn)
{
	struct message message;
	enum channel_got got = channel_take(&far_end, &message, NULL);
	const char *body;
	size_t length;

	if (sn < 0) {
		assert_int_equal(got, CHANNEL_EMPTY);
		return;
	}
	assert_int_equal(got, CHANNEL_MESSAGE);
	assert_int_equal(message.type, MSG_RECORD_APPEND);
	assert_int_equal(message.body.record_append.sn, sn);
	assert_string_equal(message.body.record_append.type, "job.retry");
	body = sealed_map(message.descriptors[0], 4096, &length);
	assert_non_null(body);
	assert_memory_equal(body, "{\"text\":\"", 9);
	sealed_unmap(body, length);
	close(message.descriptors[0]);
}

static void
acknowledge(uint64_t sn)
{
	struct msg_record_synced synced = { .sn = sn, .seq = 10 * sn, .line_hash = { (uint8_t)sn } };

	outbox_synced(&outbox, &synced);
}

static void
see(void *context, const struct letter *letter)
{
	uint64_t *seen = context;

	seen[seen[0]++ + 1] = letter->sn;
}

static void
nothing_leaves_before_the_welcome_and_then_all_in_order(void **state)
{
	(void)state;
	assert_int_equal(add("a"), 0);
	assert_int_equal(add("b"), 1);
	expect(-1);
	welcome(NONE, false);
	expect(0);
	expect(1);
	expect(-1);
	assert_int_equal(add("c"), 2);
	expect(2);
}

static void
effects_come_after_the_acknowledgement_once_and_in_order(void **state)
{
	uint64_t seen[8] = { 0 };

	(void)state;
	welcome(NONE, false);
	add("a");
	add("b");
	outbox_settle(&outbox, see, seen);
	assert_int_equal(seen[0], 0);
	acknowledge(0);
	assert_false(outbox_is_settled(&outbox, 0));
	acknowledge(1);
	outbox_settle(&outbox, see, seen);
	assert_int_equal(seen[0], 2);
	assert_int_equal(seen[1], 0);
	assert_int_equal(seen[2], 1);
	assert_true(outbox_is_settled(&outbox, 1));
	assert_false(outbox_is_settled(&outbox, 2));
	outbox_settle(&outbox, see, seen);
	assert_int_equal(seen[0], 2);
}

static void
a_new_broker_sends_again_what_was_not_acknowledged(void **state)
{
	uint64_t seen[8] = { 0 };
	struct message message;

	welcome(NONE, false);
	add("a");
	add("b");
	add("c");
	acknowledge(0);
	outbox_settle(&outbox, see, seen);
	acknowledge(1); /* but not noted: as if it had died here */
	outbox_open(&outbox, *state, &near_end);
	while (channel_take(&far_end, &message, NULL) == CHANNEL_MESSAGE)
		close(message.descriptors[0]);
	outbox_hello(&outbox);
	assert_int_equal(channel_take(&far_end, &message, NULL), CHANNEL_MESSAGE);
	assert_int_equal(message.type, MSG_BROKER_HELLO);
	assert_int_equal(message.body.broker_hello.next_sn, 3);
	assert_int_equal(message.body.broker_hello.acked_sn, 0);
	welcome(1, true);
	expect(1); /* a duplicate for the auditor */
	expect(2);
	expect(-1);
}

static void
no_more_is_sent_than_the_window_holds(void **state)
{
	uint64_t seen[OUTBOX_WINDOW + 9] = { 0 };

	(void)state;
	welcome(NONE, false);
	for (int i = 0; i < OUTBOX_WINDOW + 5; i++)
		add("x");
	for (int i = 0; i < OUTBOX_WINDOW; i++)
		expect(i);
	expect(-1);
	acknowledge(0);
	acknowledge(1);
	expect(-1);
	outbox_settle(&outbox, see, seen);
	expect(OUTBOX_WINDOW);
	expect(OUTBOX_WINDOW + 1);
	expect(-1);
}

static void
a_refusal_stops_new_work_and_a_full_disk_is_tried_again(void **state)
{
	struct msg_record_refused refused = { .sn = 0, .code = REFUSAL_FULL };
	const char *why = NULL;

	(void)state;
	welcome(NONE, false);
	add("a");
	expect(0);
	assert_true(outbox_accepts(&outbox, &why));
	outbox_refused(&outbox, &refused);
	assert_false(outbox_accepts(&outbox, &why));
	assert_non_null(why);
	add("b");
	expect(-1);
	assert_true(outbox_tick(&outbox) > 0);
	outbox.again_us = 1; /* long ago */
	assert_int_equal(outbox_tick(&outbox), 0);
	assert_true(outbox_accepts(&outbox, &why));
	expect(0);
	expect(1);
}

/* Before anything is refused; one proposal now and then finds out whether there is space again. */
static void
low_space_stops_proposals_alone_and_for_a_while(void **state)
{
	struct msg_record_synced synced = { .sn = 0, .low = 1 };
	const char *why = NULL;

	(void)state;
	welcome(NONE, false);
	add("a");
	expect(0);
	assert_true(outbox_takes_jobs(&outbox, &why));
	assert_null(why);
	outbox_synced(&outbox, &synced);
	assert_false(outbox_takes_jobs(&outbox, &why));
	assert_string_equal(why, "space for the log is low");
	assert_true(outbox_accepts(&outbox, &why));
	outbox.low_until_us = 1; /* long ago */
	assert_true(outbox_takes_jobs(&outbox, &why));
	add("b");
	expect(1);
	synced = (struct msg_record_synced){ .sn = 1, .low = 1 };
	outbox_synced(&outbox, &synced);
	assert_false(outbox_takes_jobs(&outbox, &why));
	add("c");
	expect(2);
	acknowledge(2);
	assert_true(outbox_takes_jobs(&outbox, &why));
}

static void
other_refusals_are_for_good(void **state)
{
	struct msg_record_refused refused = { .sn = 0, .code = REFUSAL_EQUIVOCATION };
	const char *why;

	(void)state;
	welcome(NONE, false);
	add("a");
	outbox_refused(&outbox, &refused);
	assert_int_equal(outbox_tick(&outbox), 0);
	assert_false(outbox_accepts(&outbox, &why));
}

struct greeting {
	uint64_t last_sn;
	bool known;
};

static void
greet(void *context)
{
	const struct greeting *greeting = context;

	welcome(greeting->last_sn, greeting->known);
}

static void
a_log_that_lost_records_or_knows_more_ends_the_process(void **state)
{
	struct greeting empty = { NONE, false }, other = { 0, false }, more = { 2, true }, good = { 1, true };
	uint64_t seen[4] = { 0 };

	welcome(NONE, false);
	add("a");
	acknowledge(0);
	outbox_settle(&outbox, see, seen);
	add("b");
	outbox_open(&outbox, *state, &near_end);
	assert_true(queue_dies(greet, &empty)); /* it has nothing of ours */
	assert_true(queue_dies(greet, &other)); /* the line at acked_seq is another */
	assert_true(queue_dies(greet, &more));  /* it has a record that we never made */
	assert_false(queue_dies(greet, &good));
}

static void
acknowledge_wrong(void *context)
{
	acknowledge(*(uint64_t *)context);
}

static void
an_acknowledgement_out_of_turn_ends_the_process(void **state)
{
	uint64_t skipped = 1, unsent = 2;

	(void)state;
	welcome(NONE, false);
	add("a");
	add("b");
	assert_true(queue_dies(acknowledge_wrong, &skipped));
	acknowledge(0);
	acknowledge(1);
	assert_true(queue_dies(acknowledge_wrong, &unsent));
}

static void
old_acknowledged_records_are_forgotten_but_the_newest(void **state)
{
	uint64_t seen[8] = { 0 };
	struct letter letter;

	welcome(NONE, false);
	add("a");
	add("b");
	add("c");
	acknowledge(0);
	acknowledge(1);
	outbox_settle(&outbox, see, seen);
	store_begin(*state);
	letters_forget(*state, INT64_MAX);
	store_commit(*state);
	assert_true(letters_from(*state, 0, &letter));
	assert_int_equal(letter.sn, 1);
	letters_free(&letter);
}

/* Nobody hears of a record that is not committed. */
static void
what_is_gathered_leaves_with_its_commit(void **state)
{
	uint64_t first, second;

	welcome(NONE, false);
	store_gather(*state);
	first = add("one");
	second = add("two");
	expect(-1);
	outbox_gathered(&outbox);
	expect((int64_t)first);
	expect((int64_t)second);
	expect(-1);
}

#define ON(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ON(nothing_leaves_before_the_welcome_and_then_all_in_order),
		ON(what_is_gathered_leaves_with_its_commit),
		ON(effects_come_after_the_acknowledgement_once_and_in_order),
		ON(a_new_broker_sends_again_what_was_not_acknowledged),
		ON(no_more_is_sent_than_the_window_holds),
		ON(a_refusal_stops_new_work_and_a_full_disk_is_tried_again),
		ON(low_space_stops_proposals_alone_and_for_a_while),
		ON(other_refusals_are_for_good),
		ON(a_log_that_lost_records_or_knows_more_ends_the_process),
		ON(an_acknowledgement_out_of_turn_ends_the_process),
		ON(old_acknowledged_records_are_forgotten_but_the_newest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
