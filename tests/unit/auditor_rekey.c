/* links: $(AUDITOR) */
/* libs: -lsodium -lzstd */
/* A log whose key is lost: only the operator's word continues it, and only for this end and this new key. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>

#include <sodium.h>

#include "lost_key.h"

static struct rig rig;
static uint8_t operator_key[32], operator_secret[64], other_key[32], other_secret[64];

/* --- lives -------------------------------------------------------------------------- */

static int
start_and_stop(void)
{
	int status;

	rig_start(&rig);
	if (rig_greet(&rig, false).type == MSG_BROKER_WELCOME) {
		rig_greet_executor(&rig);
		assert_int_equal(rig_record(&rig, "job.queued", "{}").type, MSG_RECORD_SYNCED);
	}
	status = rig_stop(&rig);
	return status;
}

/* A log with some records, and its key is gone. */
static int
begin(void **state)
{
	(void)state;
	rig_make(&rig);
	rig_open(&rig);
	if (start_and_stop() != 0 || start_and_stop() != 0)
		return -1;
	lost_put_operator(&rig, operator_key);
	return unlinkat(rig.key_fd, "key.state", 0);
}

static int
end(void **state)
{
	static const char *const names[] = { "operator", "key.new", "rekey.request", "rekey.statement" };

	(void)state;
	for (size_t i = 0; i < 4; i++)
		unlinkat(rig.key_fd, names[i], 0);
	rig_remove(&rig);
	return 0;
}

static bool
has_key(void)
{
	return faccessat(rig.key_fd, "key.state", F_OK, 0) == 0;
}

static enum verdict
verify_with(const uint8_t *key)
{
	struct segments segments;
	bool more = true;

	log_forget();
	verify_begin(&log_verdict, LOG_ORIGIN, NULL);
	if (key)
		verify_trust_operator(&log_verdict, key);
	assert_int_equal(segments_list(rig.log_fd, &segments), 0);
	for (size_t i = 0; i < segments.count && more; i++) {
		int fd = segments_open(rig.log_fd, segments.first_seqs[i]);

		more = verify_segment(&log_verdict, fd, segments.first_seqs[i]);
		close(fd);
	}
	segments_free(&segments);
	verify_end(&log_verdict, 0);
	return log_verdict.verdict;
}

/* --- tests -------------------------------------------------------------------------- */

static void
without_an_operators_key_there_is_no_way_on(void **state)
{
	(void)state;
	unlinkat(rig.key_fd, "operator", 0);
	assert_int_not_equal(start_and_stop(), 0);
	assert_false(has_key());
	assert_int_not_equal(faccessat(rig.key_fd, "key.new", F_OK, 0), 0);
	assert_int_equal(rig_verify(&rig), VERDICT_OK);
}

static void
it_refuses_until_the_operator_has_signed(void **state)
{
	struct rekey first, second;

	(void)state;
	assert_int_not_equal(start_and_stop(), 0);
	first = lost_read_request(&rig);
	assert_int_not_equal(start_and_stop(), 0);
	second = lost_read_request(&rig);
	/* The same question each time: the answer may take days. */
	assert_memory_equal(&first, &second, sizeof(first));
	assert_false(has_key());
	assert_int_equal(rig_verify(&rig), VERDICT_OK);
	assert_int_equal(first.size, log_verdict.walk.chain.next_seq);
	assert_memory_equal(first.head, log_verdict.walk.chain.head, 32);
}

static void
the_right_statement_continues_the_log(void **state)
{
	struct rekey rekey;

	(void)state;
	assert_int_not_equal(start_and_stop(), 0);
	rekey = lost_read_request(&rig);
	lost_sign(&rekey, LOG_ORIGIN, operator_secret);
	lost_put_statement(&rig, &rekey, LOG_ORIGIN);
	assert_int_equal(start_and_stop(), 0);
	assert_true(has_key());
	assert_int_equal(start_and_stop(), 0);
	assert_int_equal(verify_with(operator_key), VERDICT_OK);
	assert_int_equal(log_verdict.walk.chain.rekeys, 1);
	/* Whoever has not the operator's key is told where and why; whoever has another one sees a forgery. */
	assert_int_equal(verify_with(NULL), VERDICT_INCOMPLETE);
	assert_int_equal(log_verdict.walk.chain.unproven_seq, rekey.size + 1);
	assert_non_null(strstr(log_verdict.reason, "gives the log a new key"));
	assert_int_equal(verify_with(other_key), VERDICT_TAMPERED);
	assert_string_equal(log_verdict.reason, "rekey: not signed by the operator");
}

static void
it_can_happen_again(void **state)
{
	struct rekey rekey;

	(void)state;
	for (unsigned i = 1; i <= 2; i++) {
		assert_int_not_equal(start_and_stop(), 0);
		rekey = lost_read_request(&rig);
		lost_sign(&rekey, LOG_ORIGIN, operator_secret);
		lost_put_statement(&rig, &rekey, LOG_ORIGIN);
		assert_int_equal(start_and_stop(), 0);
		assert_int_equal(verify_with(operator_key), VERDICT_OK);
		assert_int_equal(log_verdict.walk.chain.rekeys, i);
		assert_int_equal(unlinkat(rig.key_fd, "key.state", 0), 0);
	}
	/* The statement of the last time says nothing about this end. */
	assert_int_not_equal(start_and_stop(), 0);
	assert_false(has_key());
}

enum wrong { WRONG_SIZE, WRONG_HEAD, WRONG_KEY, WRONG_SIGNER, WRONG_ORIGIN, WRONG_REASON, WRONGS };

static void
a_wrong_statement_is_refused(void **state)
{
	(void)state;
	assert_int_not_equal(start_and_stop(), 0);
	for (enum wrong wrong = 0; wrong < WRONGS; wrong++) {
		const char *origin = wrong == WRONG_ORIGIN ? "example.org/other" : LOG_ORIGIN;
		struct rekey rekey = lost_read_request(&rig);

		rekey.size -= wrong == WRONG_SIZE;
		rekey.head[5] ^= wrong == WRONG_HEAD;
		if (wrong == WRONG_KEY)
			memcpy(rekey.key, other_key, 32);
		lost_sign(&rekey, origin, wrong == WRONG_SIGNER ? other_secret : operator_secret);
		rekey.reason[0] ^= wrong == WRONG_REASON ? 1 : 0;
		lost_put_statement(&rig, &rekey, origin);
		assert_int_not_equal(start_and_stop(), 0);
		assert_false(has_key());
	}
	assert_int_equal(rig_verify(&rig), VERDICT_OK);
}

/* Neither a damaged one nor one of another log is passed by: it must be put aside by hand first. */
static void
a_key_that_is_there_is_never_replaced(void **state)
{
	struct rekey rekey;
	char kept[3 * SIGN_SLOT];

	(void)state;
	assert_int_not_equal(start_and_stop(), 0);
	rekey = lost_read_request(&rig);
	lost_sign(&rekey, LOG_ORIGIN, operator_secret);
	lost_put_statement(&rig, &rekey, LOG_ORIGIN);
	lost_put_file(&rig, "key.state", "this was a key once");
	assert_int_not_equal(start_and_stop(), 0);
	assert_int_equal(lost_get_file(&rig, "key.state", kept, sizeof(kept)), 19);
	assert_int_equal(unlinkat(rig.key_fd, "key.state", 0), 0);
	assert_int_equal(start_and_stop(), 0);
	assert_int_equal(verify_with(operator_key), VERDICT_OK);
}

/* The new key was put in place, and nothing was written yet. */
static void
a_crash_between_key_and_log_changes_nothing(void **state)
{
	struct rekey rekey;

	(void)state;
	assert_int_not_equal(start_and_stop(), 0);
	rekey = lost_read_request(&rig);
	lost_sign(&rekey, LOG_ORIGIN, operator_secret);
	lost_put_statement(&rig, &rekey, LOG_ORIGIN);
	assert_int_equal(renameat(rig.key_fd, "key.new", rig.key_fd, "key.state"), 0);
	assert_int_equal(start_and_stop(), 0);
	assert_int_equal(verify_with(operator_key), VERDICT_OK);
	assert_int_equal(log_verdict.walk.chain.rekeys, 1);
}

/* The same, but somebody else's key lies there and waits to be taken for the new one. */
static void
another_logs_key_is_not_taken_for_the_new_one(void **state)
{
	struct sign stranger;
	struct rekey rekey;

	(void)state;
	assert_int_not_equal(start_and_stop(), 0);
	rekey = lost_read_request(&rig);
	lost_sign(&rekey, LOG_ORIGIN, operator_secret);
	lost_put_statement(&rig, &rekey, LOG_ORIGIN);
	assert_int_equal(renameat(rig.key_fd, "key.new", rig.key_fd, "kept"), 0);
	rig_verify(&rig);
	assert_int_equal(sign_open_new(&stranger, rig.key_fd, log_verdict.walk.chain.next_seal), 0);
	sign_close(&stranger);
	assert_int_equal(sign_accept_new(rig.key_fd), 0);
	assert_int_not_equal(start_and_stop(), 0);
	assert_int_equal(unlinkat(rig.key_fd, "kept", 0), 0);
	assert_int_equal(rig_verify(&rig), VERDICT_OK);
}

/* --- forgeries, in a log made by hand ----------------------------------------------- */

static struct log forged;

/* A log of two segments, the second one continued with the ratchet {9, 9, ...}. */
static void
forge(const uint8_t secret[64], int64_t size_off, bool second_line)
{
	struct rekey rekey = { .reason = "forged" };
	uint8_t state[32];
	char body[REKEY_BODY];

	log_begin(&forged);
	log_add(&forged, RECORD_BROKER, "job.proposed", "{}");
	log_seal(&forged);
	rekey.size = forged.chain.next_seq + (uint64_t)size_off;
	memcpy(rekey.head, forged.chain.head, 32);
	log_join(&forged);
	if (!second_line)
		log_add(&forged, RECORD_AUDITOR, "log.space", "{}");
	memset(state, 9, sizeof(state));
	log_key(state, rekey.key);
	lost_sign(&rekey, LOG_ORIGIN, secret);
	rekey_body(&rekey, body);
	log_add(&forged, RECORD_AUDITOR, "log.rekey", body);
	log_seal_with(&forged, state);
	log_add(&forged, RECORD_BROKER, "job.approved", "{}");
	log_seal_with(&forged, state);
}

static enum verdict
judge_forged(const uint8_t *key)
{
	enum verdict verdict;

	log_forget();
	log_operator = key;
	verdict = log_judge(&forged);
	log_operator = NULL;
	return verdict;
}

static void
a_forged_rekey_is_tampering(void **state)
{
	(void)state;
	forge(operator_secret, 0, true);
	assert_int_equal(judge_forged(operator_key), VERDICT_OK);
	assert_int_equal(judge_forged(NULL), VERDICT_INCOMPLETE);
	assert_int_equal(judge_forged(other_key), VERDICT_TAMPERED);
	/* Root cuts the log and continues it with a key of its own. */
	forge(other_secret, 0, true);
	assert_int_equal(judge_forged(operator_key), VERDICT_TAMPERED);
	assert_string_equal(log_verdict.reason, "rekey: not signed by the operator");
	/* A true statement about another end, or at another place. */
	forge(operator_secret, -1, true);
	assert_int_equal(judge_forged(operator_key), VERDICT_TAMPERED);
	assert_string_equal(log_verdict.reason, "rekey: size");
	forge(operator_secret, 0, false);
	assert_int_equal(judge_forged(operator_key), VERDICT_TAMPERED);
	assert_string_equal(log_verdict.reason, "log.rekey is not the second line of a segment");
}

/* A true one of this log, put behind another history of the same length. */
static void
a_rekey_of_another_history_is_tampering(void **state)
{
	char *reason;

	(void)state;
	forge(operator_secret, 0, true);
	reason = strstr(forged.bytes, "\"head\":\"");
	assert_non_null(reason);
	reason[8] = reason[8] == '0' ? '1' : '0';
	assert_int_equal(judge_forged(operator_key), VERDICT_TAMPERED);
	assert_string_equal(log_verdict.reason, "rekey: head");
}

/* Each byte of the line: none is there for nothing. */
static void
every_byte_of_a_rekey_counts(void **state)
{
	char *line, *end;

	(void)state;
	forge(operator_secret, 0, true);
	line = strstr(forged.bytes, "\"type\":\"log.rekey\"");
	assert_non_null(line);
	end = strchr(line, '\n');
	for (char *at = line; at < end; at++) {
		*at ^= 1;
		assert_int_equal(judge_forged(operator_key), VERDICT_TAMPERED);
		*at ^= 1;
	}
	assert_int_equal(judge_forged(operator_key), VERDICT_OK);
}

int
main(void)
{
#define LOST(test) cmocka_unit_test_setup_teardown(test, begin, end)
	const struct CMUnitTest tests[] = {
		LOST(without_an_operators_key_there_is_no_way_on),
		LOST(it_refuses_until_the_operator_has_signed),
		LOST(the_right_statement_continues_the_log),
		LOST(it_can_happen_again),
		LOST(a_wrong_statement_is_refused),
		LOST(a_key_that_is_there_is_never_replaced),
		LOST(a_crash_between_key_and_log_changes_nothing),
		LOST(another_logs_key_is_not_taken_for_the_new_one),
		cmocka_unit_test(a_forged_rekey_is_tampering),
		cmocka_unit_test(a_rekey_of_another_history_is_tampering),
		cmocka_unit_test(every_byte_of_a_rekey_counts),
	};
	uint8_t seed[32] = { 1 };

	digest_open();
	crypto_sign_seed_keypair(operator_key, operator_secret, seed);
	seed[0] = 2;
	crypto_sign_seed_keypair(other_key, other_secret, seed);
	if (getenv("AUDITOR_TEST"))
		cmocka_set_test_filter(getenv("AUDITOR_TEST"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
