/* Who gets checkpoints, when, and what is made of the answers: auditor/targets.c.
 * links: auditor/targets.c auditor/cosign.c auditor/checkpoint.c auditor/scan.c shared/vkey.c shared/digest.c shared/text.c shared/base64.c shared/log.c shared/loop.c
 * libs: -lsodium */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "digest.h"
#include "loop.h"

#include "cosign.h"
#include "targets.h"

#define SECOND UINT64_C(1000000)

static struct boot_audit audit;
static struct targets targets;
static struct vkey witness;
static uint8_t secret[64], other_secret[64];

/* An export and one witness; nothing is known yet. */
static int
begin(void **state)
{
	uint8_t key[32];

	(void)state;
	digest_open();
	memset(&audit, 0, sizeof(audit));
	memset(&targets, 0, sizeof(targets));
	crypto_sign_keypair(key, other_secret);
	crypto_sign_keypair(key, secret);
	vkey_make(&witness, "w/a", VKEY_WITNESS, key);
	vkey_write(&witness, audit.witnesses[0]);
	audit.witness_count = audit.quorum = 1;
	audit.command_count = 2;
	audit.commands[0].length = audit.commands[1].length = 3;
	targets_open(&targets, &audit);
	return 0;
}

static void
seal(uint64_t size, uint64_t now_us)
{
	struct seal newest = { .size = size };

	targets_want(&targets, &newest, now_us);
}

static void
line(const char *type)
{
	struct record record = { .body = "{}", .body_length = 2 };

	snprintf(record.type, sizeof(record.type), "%s", type);
	targets_note(&targets, &record);
}

/* It was given this checkpoint. */
static void
ask(unsigned index, uint64_t size)
{
	struct target *target = &targets.list[index];

	target->busy = true;
	target->asked = size;
	snprintf(target->text, sizeof(target->text), "origin\n%llu\nroot\n", (unsigned long long)size);
}

static void
take(unsigned index, enum carried carried, int32_t detail, const char *output)
{
	const struct msg_checkpoint_carried message = { .target = index, .carried = carried, .detail = detail };

	targets_take(&targets, index, &message, output, strlen(output), 100);
}

static const char *
cosignature(const uint8_t key[64], const char *name)
{
	static char text[CHECKPOINT_LINE];
	uint8_t bytes[CHECKPOINT_COSIGNATURE];

	checkpoint_cosign(targets.list[1].text, strlen(targets.list[1].text), &witness, key, 1700000000, bytes);
	checkpoint_line(text, name, bytes, sizeof(bytes));
	return text;
}

static void
a_checkpoint_goes_out_when_it_covers_something_new(void **state)
{
	(void)state;
	line("job.proposed");
	seal(10, SECOND);
	assert_int_equal(targets.wanted, 10);
	/* Its cosignature and the seal over that are nothing new. */
	line("log.cosign");
	line("log.seal");
	seal(12, 2 * SECOND);
	assert_int_equal(targets.wanted, 10);
	line("exec.intent");
	seal(14, 3 * SECOND);
	assert_int_equal(targets.wanted, 14);
	/* But once a heartbeat, so that silence can be told from a cut. */
	seal(15, (3 + CHAIN_HEARTBEAT_SECONDS) * SECOND);
	assert_int_equal(targets.wanted, 15);
}

static void
one_run_at_a_time_and_the_newest_wins(void **state)
{
	uint64_t now_us = clock_monotonic_us();

	(void)state;
	line("job.proposed");
	seal(10, now_us);
	assert_true(targets_is_due(&targets, 0, false, now_us) && targets_is_due(&targets, 1, false, now_us));
	ask(1, 10);
	line("job.proposed");
	seal(12, now_us);
	assert_false(targets_is_due(&targets, 1, true, now_us));
	take(1, CARRIED_EXITED, 0, cosignature(secret, "w/a"));
	assert_int_equal(targets.list[1].taken, 10);
	/* Not within the same second, unless a run waits. */
	assert_false(targets_is_due(&targets, 1, false, now_us));
	assert_true(targets_is_due(&targets, 1, true, now_us));
	assert_true(targets_is_due(&targets, 1, false, now_us + 3 * SECOND));
	ask(1, 12);
	take(1, CARRIED_EXITED, 0, cosignature(secret, "w/a"));
	assert_false(targets_is_due(&targets, 1, true, now_us + 3 * SECOND));
}

static void
only_its_own_signature_over_what_it_was_given_counts(void **state)
{
	char line_text[CHECKPOINT_LINE * 2];

	(void)state;
	ask(1, 10);
	take(1, CARRIED_EXITED, 0, cosignature(other_secret, "w/a"));
	assert_int_equal(targets.list[1].state, WITNESS_WRONG);
	take(1, CARRIED_EXITED, 0, cosignature(secret, "w/b"));
	assert_int_equal(targets.list[1].state, WITNESS_WRONG);
	snprintf(line_text, sizeof(line_text), "%s", cosignature(secret, "w/a"));
	ask(1, 11);
	take(1, CARRIED_EXITED, 0, line_text);
	assert_int_equal(targets.list[1].state, WITNESS_WRONG);
	take(1, CARRIED_EXITED, 0, "");
	assert_int_equal(targets.list[1].state, WITNESS_WRONG);
	assert_int_equal(targets.list[1].taken, 0);
	assert_false(targets_have_quorum(&targets, 3));
	/* Among lines of others it is found. */
	snprintf(line_text, sizeof(line_text), "\u2014 x/y AAAAAAAA\n%s", cosignature(secret, "w/a"));
	take(1, CARRIED_EXITED, 0, line_text);
	assert_int_equal(targets.list[1].state, WITNESS_GOOD);
	assert_true(targets.list[1].has_cosignature);
	assert_true(targets_have_quorum(&targets, 10));
	assert_false(targets_have_quorum(&targets, 11));
}

static void
every_failure_is_told_and_tried_again_later(void **state)
{
	static const struct {
		enum carried carried;
		int32_t detail;
		uint32_t state;
	} rows[] = {
		{ CARRIED_EXITED, 1, WITNESS_FAILING }, { CARRIED_EXITED, 255, WITNESS_FAILING },
		{ CARRIED_KILLED, 9, WITNESS_FAILING }, { CARRIED_LATE, 0, WITNESS_FAILING },
		{ CARRIED_LOUD, 0, WITNESS_FAILING }, { CARRIED_UNSTARTED, 13, WITNESS_FAILING },
		{ CARRIED_EXITED, 4, WITNESS_FORKED },
	};

	(void)state;
	line("job.proposed");
	seal(10, clock_monotonic_us());
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ask(1, 10);
		targets.list[1].told = true;
		take(1, rows[i].carried, rows[i].detail, "");
		assert_int_equal(targets.list[1].state, rows[i].state);
		assert_false(targets_is_due(&targets, 1, true, clock_monotonic_us()));
		assert_true(targets_is_due(&targets, 1, true, clock_monotonic_us() + 2 * SECOND));
		assert_true(targets_is_due(&targets, 1, false, clock_monotonic_us() + 65 * SECOND));
	}
	assert_false(targets_is_due(&targets, 1, false, clock_monotonic_us() + 30 * SECOND));
	assert_int_equal(targets.list[1].taken, 0);
}

static void
a_witness_that_stands_elsewhere_is_asked_again_from_there_at_once(void **state)
{
	(void)state;
	line("job.proposed");
	seal(90, clock_monotonic_us());
	ask(1, 90);
	take(1, CARRIED_EXITED, 5, "40\n");
	assert_int_equal(targets.list[1].old, 40);
	assert_true(targets_is_due(&targets, 1, false, clock_monotonic_us()));
	/* But not for ever: the same answer again is none. */
	ask(1, 90);
	take(1, CARRIED_EXITED, 5, "40\n");
	assert_int_equal(targets.list[1].state, WITNESS_WRONG);
	/* More than we have: the log was put back. */
	take(1, CARRIED_EXITED, 5, "101\n");
	assert_int_equal(targets.list[1].state, WITNESS_AHEAD);
	assert_int_equal(targets.list[1].old, 40);
}

/* curl ends with 0 whatever the HTTP status was. */
static void
a_size_says_where_it_stands_whatever_the_command_ends_with(void **state)
{
	(void)state;
	line("job.proposed");
	seal(90, clock_monotonic_us());
	ask(1, 90);
	take(1, CARRIED_EXITED, 0, "40\n");
	assert_int_equal(targets.list[1].old, 40);
	assert_true(targets_is_due(&targets, 1, false, clock_monotonic_us()));
	ask(1, 90);
	take(1, CARRIED_EXITED, 0, "101\n");
	assert_int_equal(targets.list[1].state, WITNESS_AHEAD);
	/* Of one that failed it is nothing. */
	ask(1, 90);
	take(1, CARRIED_EXITED, 1, "50\n");
	assert_int_equal(targets.list[1].state, WITNESS_FAILING);
	take(1, CARRIED_KILLED, 0, "50\n");
	assert_int_equal(targets.list[1].state, WITNESS_FAILING);
	assert_int_equal(targets.list[1].old, 40);
}

/* By HTTP another root at the same size has the status of an old size that is not the right one, 409. */
static void
one_that_stands_where_it_was_asked_to_go_has_seen_another_log(void **state)
{
	(void)state;
	for (int32_t status = 0; status <= 5; status += 5) {
		line("job.proposed");
		seal(90, clock_monotonic_us());
		targets.list[1].old = 90;
		ask(1, 90);
		take(1, CARRIED_EXITED, status, "90\n");
		assert_int_equal(targets.list[1].state, WITNESS_FORKED);
		assert_int_equal(targets.list[1].taken, 0);
	}
}

static void
one_that_always_stands_elsewhere_is_not_believed(void **state)
{
	char text[16];

	(void)state;
	for (unsigned i = 1; i <= 4; i++) {
		snprintf(text, sizeof(text), "%u\n", i);
		ask(1, 90);
		take(1, CARRIED_EXITED, 5, text);
	}
	assert_int_equal(targets.list[1].state, WITNESS_WRONG);
	line("job.proposed");
	seal(91, clock_monotonic_us());
	assert_false(targets_is_due(&targets, 1, true, clock_monotonic_us()));
}

static void
nonsense_for_a_size_is_a_wrong_answer(void **state)
{
	static const char *const texts[] = { "", "40", "x\n", "040\n", "-1\n", "40\n40\n", "40 \n", "9999999999999999999999\n" };

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		ask(1, 90);
		take(1, CARRIED_EXITED, 5, texts[i]);
		assert_int_equal(targets.list[1].state, WITNESS_WRONG);
		assert_int_equal(targets.list[1].old, 0);
	}
}

static void
where_a_witness_stands_is_known_from_the_log(void **state)
{
	struct cosign cosign = { .witness = "w/a", .size = 33 };
	struct record record = { .type = "log.cosign" };
	char body[COSIGN_BODY];

	(void)state;
	record.body_length = cosign_body(body, &cosign);
	record.body = body;
	targets_note(&targets, &record);
	assert_int_equal(targets.list[1].old, 33);
	/* What was taken counts only when it was cosigned to us. */
	assert_false(targets_have_quorum(&targets, 3));
}

static void
without_a_courier_nobody_is_asked(void **state)
{
	(void)state;
	line("job.proposed");
	seal(10, clock_monotonic_us());
	ask(1, 10);
	targets_lose(&targets);
	assert_int_equal(targets.list[0].state, WITNESS_GONE);
	assert_false(targets_is_due(&targets, 0, true, UINT64_MAX));
	assert_false(targets_is_due(&targets, 1, true, UINT64_MAX));
	assert_true(targets_deadline(&targets, false) == UINT64_MAX);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_checkpoint_goes_out_when_it_covers_something_new, begin),
		cmocka_unit_test_setup(one_run_at_a_time_and_the_newest_wins, begin),
		cmocka_unit_test_setup(only_its_own_signature_over_what_it_was_given_counts, begin),
		cmocka_unit_test_setup(every_failure_is_told_and_tried_again_later, begin),
		cmocka_unit_test_setup(a_witness_that_stands_elsewhere_is_asked_again_from_there_at_once, begin),
		cmocka_unit_test_setup(a_size_says_where_it_stands_whatever_the_command_ends_with, begin),
		cmocka_unit_test_setup(one_that_stands_where_it_was_asked_to_go_has_seen_another_log, begin),
		cmocka_unit_test_setup(one_that_always_stands_elsewhere_is_not_believed, begin),
		cmocka_unit_test_setup(nonsense_for_a_size_is_a_wrong_answer, begin),
		cmocka_unit_test_setup(where_a_witness_stands_is_known_from_the_log, begin),
		cmocka_unit_test_setup(without_a_courier_nobody_is_asked, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
