/* links: $(AUDITOR) */
/* libs: -lsodium -lzstd */
/* A whole auditor and the two peers that it may hear.  AUDITOR_BINARY=build/agent-safe-auditor tests that one, confined. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>

#include "auditor_rig.h"

#define KILL_ROUNDS 100

static struct rig rig;

static int
begin(void **state)
{
	(void)state;
	digest_open();
	rig_make(&rig);
	rig_open(&rig);
	return 0;
}

static int
end(void **state)
{
	(void)state;
	rig_remove(&rig);
	return 0;
}

static void
start_greeted(void)
{
	rig_start(&rig);
	assert_int_equal(rig_greet(&rig, false).type, MSG_BROKER_WELCOME);
	assert_int_equal(rig_greet_executor(&rig).type, MSG_EXECUTOR_WELCOME);
}

static void
assert_refused(const struct message *answer, enum record_refusal code)
{
	assert_int_equal(answer->type, MSG_RECORD_REFUSED);
	assert_int_equal(answer->body.record_refused.code, code);
}

/* Does a line of the log hold this text? */
static bool
log_holds(const char *text)
{
	static char bytes[1u << 20];
	struct segments segments;
	bool found = false;

	segments_list(rig.log_fd, &segments);
	for (size_t i = 0; i < segments.count && !found; i++) {
		int fd = segments_open(rig.log_fd, segments.first_seqs[i]);
		ssize_t length = read(fd, bytes, sizeof(bytes) - 1);

		close(fd);
		bytes[length < 0 ? 0 : length] = '\0';
		found = strstr(bytes, text) != NULL;
	}
	segments_free(&segments);
	return found;
}

static void
a_record_is_answered_when_it_is_in_the_log(void **state)
{
	struct message answer;

	(void)state;
	start_greeted();
	answer = rig_record(&rig, "job.proposed", "{\"job\":\"one\"}");
	assert_int_equal(answer.type, MSG_RECORD_SYNCED);
	assert_int_equal(answer.body.record_synced.seq, 2);
	assert_true(log_holds("\"type\":\"job.proposed\",\"d\":{\"job\":\"one\"}}"));
	assert_int_equal(rig_stop(&rig), 0);
	assert_int_equal(rig_verify(&rig), VERDICT_OK);
	assert_true(log_holds("log.seal"));
}

static void
the_same_record_again_is_a_duplicate_and_no_new_line(void **state)
{
	struct message first, again;

	(void)state;
	start_greeted();
	first = rig_record(&rig, "job.proposed", "{\"job\":\"one\"}");
	rig_send_record(&rig, 0, "job.proposed", "{\"job\":\"one\"}");
	again = rig_hear(&rig.broker);
	assert_int_equal(again.type, MSG_RECORD_SYNCED);
	assert_int_equal(again.body.record_synced.duplicate, 1);
	assert_int_equal(again.body.record_synced.seq, first.body.record_synced.seq);
	assert_memory_equal(again.body.record_synced.line_hash, first.body.record_synced.line_hash, 32);
	rig_stop(&rig);
	assert_int_equal(rig_verify(&rig), VERDICT_OK);
	assert_int_equal(log_verdict.told, 1);
}

static void
a_gap_is_refused_with_the_number_expected(void **state)
{
	struct message answer;

	(void)state;
	start_greeted();
	rig_send_record(&rig, 1, "job.proposed", "{}");
	answer = rig_hear(&rig.broker);
	assert_refused(&answer, REFUSAL_GAP);
	assert_int_equal(answer.body.record_refused.expected_sn, 0);
	rig_stop(&rig);
}

static void
bodies_that_are_not_strict_and_types_of_others_are_refused(void **state)
{
	static const char *const bad[][2] = {
		{ "job.proposed", "{\"a\":1,\"a\":2}" },
		{ "job.proposed", "{} " },
		{ "job.proposed", "{\"a\":1.5}" },
		{ "job.proposed", "{\"a\":\"\n\"}" },
		{ "job.proposed", "" },
		{ "log.seal", "{}" },
		{ "exec.intent", "{}" },
		{ "Job", "{}" },
		{ "", "{}" },
		{ "job.dispatch", "{\"job\":\"one\",\"attempt\":1,\"spec_sha256\":\"00\"}" },
	};

	(void)state;
	start_greeted();
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct message answer = rig_record(&rig, bad[i][0], bad[i][1]);

		assert_refused(&answer, REFUSAL_INVALID);
	}
	assert_int_equal(rig_record(&rig, "job.proposed", "{}").type, MSG_RECORD_SYNCED);
	rig_stop(&rig);
	assert_int_equal(rig_verify(&rig), VERDICT_OK);
}

static void
a_body_too_long_for_a_line_is_refused(void **state)
{
	static char body[LIMIT_RECORD_BYTES + 16];
	struct message answer;

	(void)state;
	memset(body, 'x', sizeof(body) - 1);
	memcpy(body, "{\"a\":\"", 6);
	memcpy(body + LIMIT_RECORD_BYTES - 2, "\"}", 3);
	start_greeted();
	answer = rig_record(&rig, "job.proposed", body);
	assert_refused(&answer, REFUSAL_INVALID);
	memcpy(body + LIMIT_RECORD_BODY - 2, "\"}", 3);
	assert_int_equal(rig_record(&rig, "job.proposed", body).type, MSG_RECORD_SYNCED);
	rig_stop(&rig);
	assert_int_equal(rig_verify(&rig), VERDICT_OK);
}

static void
two_tales_under_one_number_are_recorded_and_the_broker_is_frozen(void **state)
{
	struct message answer;

	(void)state;
	start_greeted();
	rig_record(&rig, "job.proposed", "{\"job\":\"one\"}");
	rig_send_record(&rig, 0, "job.proposed", "{\"job\":\"two\"}");
	answer = rig_hear(&rig.broker);
	assert_refused(&answer, REFUSAL_EQUIVOCATION);
	answer = rig_record(&rig, "job.proposed", "{}");
	assert_refused(&answer, REFUSAL_FROZEN);
	rig_stop(&rig);
	assert_true(log_holds("\"code\":\"equivocation\""));
	assert_int_equal(rig_verify(&rig), VERDICT_OK);
}

static void
an_intent_is_permitted_once_and_only_after_its_seal(void **state)
{
	struct message answer;

	(void)state;
	start_greeted();
	rig_dispatch(&rig, 1, 1);
	answer = rig_intent(&rig, 1, 1, 1);
	assert_int_equal(answer.type, MSG_INTENT_PERMITTED);
	/* at this moment the log is sealed up to its end */
	assert_int_equal(rig_verify(&rig), VERDICT_OK);
	assert_int_equal(dispatch_running(&log_verdict.dispatch), 1);
	answer = rig_intent(&rig, 1, 1, 1);
	assert_int_equal(answer.type, MSG_INTENT_REFUSED);
	assert_int_equal(answer.body.intent_refused.code, REFUSAL_TAKEN);
	rig_stop(&rig);
	assert_int_equal(rig_verify(&rig), VERDICT_OK);
	assert_true(log_holds("\"argv\":[\"/bin/echo\",\"café \\u0007 \\\"quoted\\\"\",{\"b64\":\"//4=\"}]"));
}

static void
an_intent_that_nobody_dispatched_is_refused_and_recorded(void **state)
{
	struct message answer;

	(void)state;
	start_greeted();
	rig_dispatch(&rig, 1, 1);
	for (unsigned i = 0; i < 3; i++) { /* another job, another attempt, another digest */
		answer = rig_intent(&rig, i == 0 ? 2 : 1, i == 1 ? 2 : 1, i == 2 ? 2 : 1);
		assert_int_equal(answer.type, MSG_INTENT_REFUSED);
		assert_int_equal(answer.body.intent_refused.code, REFUSAL_UNBACKED);
	}
	rig_stop(&rig);
	assert_true(log_holds("\"code\":\"unbacked\""));
	assert_int_equal(rig_verify(&rig), VERDICT_OK);
	assert_int_equal(dispatch_running(&log_verdict.dispatch), 0);
}

static void
a_dispatch_without_approval_permits_nothing(void **state)
{
	const char *hex = "0101010101010101010101010101010101010101010101010101010101010101";
	char body[256];

	(void)state;
	start_greeted();
	snprintf(body, sizeof(body), "{\"job\":\"01000000-0000-0000-0000-000000000000\",\"attempt\":1,\"slot\":0,"
	    "\"spec_sha256\":\"%s\"}", hex);
	assert_int_equal(rig_record(&rig, "job.dispatch", body).type, MSG_RECORD_SYNCED);
	assert_int_equal(rig_intent(&rig, 1, 1, 1).type, MSG_INTENT_REFUSED);
	rig_stop(&rig);
}

static void
the_tables_are_rebuilt_from_the_log(void **state)
{
	(void)state;
	start_greeted();
	rig_dispatch(&rig, 1, 1);
	rig_dispatch(&rig, 2, 1);
	assert_int_equal(rig_intent(&rig, 1, 1, 1).type, MSG_INTENT_PERMITTED);
	rig_stop(&rig);
	start_greeted();
	assert_int_equal(rig_intent(&rig, 1, 1, 1).type, MSG_INTENT_REFUSED);
	assert_int_equal(rig_intent(&rig, 2, 1, 2).type, MSG_INTENT_PERMITTED);
	rig_stop(&rig);
	assert_int_equal(rig_verify(&rig), VERDICT_OK);
}

static void
an_end_is_recorded_once_and_a_start_before_it(void **state)
{
	struct message first, again;

	(void)state;
	start_greeted();
	rig_dispatch(&rig, 1, 1);
	rig_intent(&rig, 1, 1, 1);
	assert_int_equal(rig_fact(&rig, 1, 1, FACT_STARTED).type, MSG_FACT_RECORDED);
	first = rig_fact(&rig, 1, 1, FACT_ENDED);
	again = rig_fact(&rig, 1, 1, FACT_ENDED);
	assert_int_equal(first.type, MSG_FACT_RECORDED);
	assert_int_equal(first.body.fact_recorded.token, 77);
	assert_int_equal(again.body.fact_recorded.seq, first.body.fact_recorded.seq);
	again = rig_fact(&rig, 1, 1, FACT_LOST);
	assert_int_equal(again.body.fact_recorded.seq, first.body.fact_recorded.seq);
	/* a run that the log does not know is recorded as it came */
	assert_int_equal(rig_fact(&rig, 9, 1, FACT_LOST).type, MSG_FACT_RECORDED);
	rig_stop(&rig);
	assert_int_equal(rig_verify(&rig), VERDICT_OK);
	assert_int_equal(dispatch_running(&log_verdict.dispatch), 0);
	assert_true(log_holds("\"outcome\":\"succeeded\",\"exit_code\":0"));
	assert_true(log_holds("\"layers\":[\"landlock\",\"seccomp\"]"));
}

static void
the_head_is_sealed_and_its_segments_are_handed_over(void **state)
{
	struct message order = { .type = MSG_LOG_SEAL }, sealed, segment;

	(void)state;
	start_greeted();
	rig_record(&rig, "job.proposed", "{}");
	order.body.log_seal = (struct msg_log_seal){ .request = 5, .want = SEAL_WANT_SEGMENTS | SEAL_WANT_CHALLENGE,
		.nonce = { 0xab } };
	rig_say(&rig.broker, &order, -1);
	sealed = rig_hear(&rig.broker);
	assert_int_equal(sealed.type, MSG_LOG_SEALED);
	assert_int_equal(sealed.body.log_sealed.request, 5);
	assert_int_equal(sealed.body.log_sealed.segments, 1);
	segment = rig_hear(&rig.broker);
	assert_int_equal(segment.type, MSG_LOG_SEGMENT);
	assert_int_equal(fcntl(segment.descriptors[0], F_GETFL) & O_ACCMODE, O_RDONLY);
	log_forget();
	verify_begin(&log_verdict, LOG_ORIGIN, sealed.body.log_sealed.genesis_key);
	verify_segment(&log_verdict, segment.descriptors[0], UINT64_MAX);
	verify_end(&log_verdict, 0);
	close(segment.descriptors[0]);
	assert_int_equal(log_verdict.verdict, VERDICT_OK);
	assert_int_equal(log_verdict.walk.chain.next_seq, sealed.body.log_sealed.size);
	assert_memory_equal(log_verdict.walk.chain.head, sealed.body.log_sealed.head_hash, 32);
	assert_memory_equal(log_verdict.walk.chain.root, sealed.body.log_sealed.root, 32);
	assert_true(log_holds("log.challenge\",\"d\":{\"nonce\":\"ab00"));
	rig_stop(&rig);
}

static void
a_record_is_sealed_within_two_seconds(void **state)
{
	(void)state;
	start_greeted();
	rig_record(&rig, "job.proposed", "{}");
	assert_int_equal(rig_verify(&rig), VERDICT_INCOMPLETE);
	usleep(1500000);
	assert_int_equal(rig_verify(&rig), VERDICT_OK);
	rig_stop(&rig);
}

/* Records as fast as they are taken; all are answered in order. */
static void
record_many(uint64_t count)
{
	uint64_t sent = rig.next_sn, end = sent + count;

	while (rig.next_sn < end) {
		struct message answer = { 0 };
		uint64_t expected = rig.next_sn;

		/* Fewer than the auditor holds answers for: it stops to read when nobody reads these. */
		if (sent < end && sent - rig.next_sn < 100) {
			rig_send_record(&rig, sent++, "job.queued", "{\"job\":\"one\"}");
			if (channel_take(&rig.broker, &answer, NULL) != CHANNEL_MESSAGE)
				continue;
		} else
			answer = rig_hear(&rig.broker);
		assert_int_equal(answer.type, MSG_RECORD_SYNCED);
		assert_int_equal(answer.body.record_synced.sn, expected);
		rig_note_ack(&rig, &answer);
	}
}

static void
many_records_at_once_are_all_answered_and_sealed_in_time(void **state)
{
	const uint64_t count = 2000;

	(void)state;
	start_greeted();
	record_many(count);
	rig_stop(&rig);
	assert_int_equal(rig_verify(&rig), VERDICT_OK);
	assert_int_equal(log_verdict.told, count);
	assert_true(log_verdict.walk.chain.next_seal > count / 256);
}

/* Older than what is held in memory: the log itself is asked. */
static void
an_acknowledged_record_of_long_ago_is_found(void **state)
{
	struct msg_record_synced first;

	(void)state;
	start_greeted();
	rig_record(&rig, "job.proposed", "{\"first\":1}");
	first = rig.acked;
	record_many(RECENT_RECORDS + 10);
	rig_send_record(&rig, 0, "job.proposed", "{\"first\":1}");
	assert_int_equal(rig_hear(&rig.broker).body.record_refused.code, REFUSAL_GAP);
	rig_stop(&rig);
	rig.acked = first;
	rig_start(&rig);
	assert_int_equal(rig_greet(&rig, false).type, MSG_BROKER_WELCOME);
	rig_stop(&rig);
	rig.acked.line_hash[5] ^= 1;
	rig_start(&rig);
	rig_greet(&rig, false);
	assert_int_equal(rig_wait(&rig), 1);
}

static void
a_large_segment_is_followed_by_another(void **state)
{
	static char body[65000];

	(void)state;
	memset(body, 'x', sizeof(body) - 1);
	memcpy(body, "{\"a\":\"", 6);
	memcpy(body + sizeof(body) - 3, "\"}", 2);
	start_greeted();
	while ((uint64_t)rig.next_sn * sizeof(body) < JOURNAL_SEGMENT_BYTES + 4 * sizeof(body))
		assert_int_equal(rig_record(&rig, "job.proposed", body).type, MSG_RECORD_SYNCED);
	assert_int_equal(rig_segments(&rig), 2);
	assert_int_equal(rig_stop(&rig), 0);
	assert_int_equal(rig_verify(&rig), VERDICT_OK);
}

/* The peer that sends and does not read is not read from either; the other one is served. */
static void
a_broker_that_does_not_read_does_not_stop_the_executor(void **state)
{
	struct message append = { .type = MSG_RECORD_APPEND };
	unsigned full = 0;

	(void)state;
	start_greeted();
	snprintf(append.body.record_append.type, RECORD_TYPE_BYTES, "job.queued");
	append.descriptors[0] = sealed_make("d", "{}", 2);
	while (full < 50) /* its queue and ours are full when sending fails for a while */
		if (channel_send(&rig.broker, &append) == 0) {
			append.body.record_append.sn++;
			full = 0;
		} else {
			full++;
			usleep(2000);
		}
	close(append.descriptors[0]);
	assert_int_equal(rig_fact(&rig, 1, 1, FACT_LOST).type, MSG_FACT_RECORDED);
	for (uint64_t sn = 0; sn < append.body.record_append.sn; sn++)
		assert_int_equal(rig_hear(&rig.broker).body.record_synced.sn, sn);
	assert_int_equal(rig_stop(&rig), 0);
	assert_int_equal(rig_verify(&rig), VERDICT_OK);
}

/* --- breaches, each the end of it ------------------------------------------------------- */

static void
a_record_before_the_greeting_is_a_breach(void **state)
{
	(void)state;
	rig_start(&rig);
	rig_send_record(&rig, 0, "job.proposed", "{}");
	assert_int_equal(rig_wait(&rig), 1);
}

static void
a_record_that_is_not_sealed_is_a_breach(void **state)
{
	struct message append = { .type = MSG_RECORD_APPEND };

	(void)state;
	start_greeted();
	rig_say(&rig.broker, &append, memfd_create("open", MFD_CLOEXEC | MFD_ALLOW_SEALING));
	assert_int_equal(rig_wait(&rig), 1);
}

static void
facts_of_another_kind_are_a_breach(void **state)
{
	struct message append = { .type = MSG_FACT_APPEND };

	(void)state;
	start_greeted();
	append.body.fact_append.run = rig_run_name(1, 1);
	append.body.fact_append.fact = FACT_ENDED;
	rig_say(&rig.executor, &append, rig_fact_fields(FACT_STARTED));
	assert_int_equal(rig_wait(&rig), 1);
}

static void
a_second_auditor_ends_at_once(void **state)
{
	struct rig second;

	(void)state;
	start_greeted();
	second = rig;
	rig_start(&second);
	assert_int_equal(rig_wait(&second), 1);
	assert_int_equal(rig_record(&rig, "job.proposed", "{}").type, MSG_RECORD_SYNCED);
	rig_stop(&rig);
}

/* --- memories --------------------------------------------------------------------------- */

static void
a_log_without_the_acknowledged_record_is_refused(void **state)
{
	(void)state;
	start_greeted();
	rig_record(&rig, "job.proposed", "{}");
	rig_stop(&rig);
	rig.acked.line_hash[0] ^= 1;
	rig_start(&rig);
	rig_greet(&rig, false);
	assert_int_equal(rig_wait(&rig), 1);
	rig.acked.line_hash[0] ^= 1;
	rig.acked.sn += 5; /* the log is behind */
	rig.next_sn += 5;
	rig_start(&rig);
	rig_greet(&rig, true); /* nor does resync help here */
	assert_int_equal(rig_wait(&rig), 1);
}

static void
a_database_that_was_put_back_is_refused_unless_resync_is_ordered(void **state)
{
	struct message welcome;

	(void)state;
	start_greeted();
	rig_record(&rig, "job.proposed", "{}");
	rig_record(&rig, "job.proposed", "{\"b\":1}");
	rig_stop(&rig);
	rig.next_sn = 0;
	rig.has_acked = false;
	rig_start(&rig);
	rig_greet(&rig, false);
	assert_int_equal(rig_wait(&rig), 1);
	rig_start(&rig);
	welcome = rig_greet(&rig, true);
	assert_int_equal(welcome.type, MSG_BROKER_WELCOME);
	assert_int_equal(welcome.body.broker_welcome.last_sn, 1);
	rig_stop(&rig);
	assert_true(log_holds("\"reason\":\"db_resync\""));
	assert_int_equal(rig_verify(&rig), VERDICT_OK);
}

/* --- starts ------------------------------------------------------------------------------ */

static void
cut_file(int folder_fd, const char *name, off_t shorter)
{
	int fd = openat(folder_fd, name, O_RDWR | O_CLOEXEC);
	struct stat st;

	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	assert_int_equal(ftruncate(fd, st.st_size - shorter), 0);
	close(fd);
}

static void
a_log_cut_behind_a_seal_is_refused(void **state)
{
	(void)state;
	start_greeted();
	rig_record(&rig, "job.proposed", "{}");
	rig_stop(&rig);
	cut_file(rig.log_fd, "seg-00000000000000000000.jsonl", 2);
	rig_start(&rig);
	assert_int_equal(rig_wait(&rig), 1);
	assert_int_equal(rig_segments(&rig), 1);
}

static void
a_log_that_is_gone_is_refused_while_its_key_is_there(void **state)
{
	(void)state;
	start_greeted();
	rig_stop(&rig);
	unlinkat(rig.log_fd, "seg-00000000000000000000.jsonl", 0);
	rig_start(&rig);
	assert_int_equal(rig_wait(&rig), 1);
	assert_int_equal(rig_segments(&rig), 0);
}

/* As they were left by a copy that forgot their modes, or by somebody who wanted to read along. */
static void
keys_that_others_may_read_are_refused_and_so_is_what_is_no_file(void **state)
{
	static const char *const names[] = { "key.state", "log.key" };
	static const mode_t modes[] = { 0604, 0640, 0602 };

	(void)state;
	start_greeted();
	rig_record(&rig, "job.proposed", "{}");
	assert_int_equal(rig_stop(&rig), 0);
	for (size_t i = 0; i < 2; i++) {
		for (size_t k = 0; k < 3; k++) {
			assert_int_equal(fchmodat(rig.key_fd, names[i], modes[k], 0), 0);
			rig_start(&rig);
			assert_int_not_equal(rig_wait(&rig), 0);
		}
		assert_int_equal(fchmodat(rig.key_fd, names[i], 0600, 0), 0);
		/* Neither waits for somebody at the other end. */
		assert_int_equal(renameat(rig.key_fd, names[i], rig.key_fd, "kept"), 0);
		assert_int_equal(mkfifoat(rig.key_fd, names[i], 0600), 0);
		rig_start(&rig);
		assert_int_not_equal(rig_wait(&rig), 0);
		assert_int_equal(renameat(rig.key_fd, "kept", rig.key_fd, names[i]), 0);
	}
	start_greeted();
	assert_int_equal(rig_record(&rig, "job.proposed", "{}").type, MSG_RECORD_SYNCED);
	assert_int_equal(rig_stop(&rig), 0);
	assert_int_equal(rig_verify(&rig), VERDICT_OK);
}

static void
a_log_without_its_key_is_refused(void **state)
{
	(void)state;
	start_greeted();
	rig_stop(&rig);
	unlinkat(rig.key_fd, "key.state", 0);
	rig_start(&rig);
	assert_int_equal(rig_wait(&rig), 1);
}

static void
a_torn_end_is_declared_and_stays(void **state)
{
	static const char torn[] = "{\"v\":1,\"seq\":3,\"prev\":\"00\0\0\0";
	int fd;

	(void)state;
	start_greeted();
	rig_record(&rig, "job.proposed", "{}");
	rig_stop(&rig);
	fd = openat(rig.log_fd, "seg-00000000000000000000.jsonl", O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_int_equal(write(fd, torn, sizeof(torn)), sizeof(torn));
	close(fd);
	assert_int_equal(rig_verify(&rig), VERDICT_INCOMPLETE);
	start_greeted();
	assert_int_equal(rig_record(&rig, "job.proposed", "{}").type, MSG_RECORD_SYNCED);
	rig_stop(&rig);
	assert_int_equal(rig_segments(&rig), 2);
	assert_int_equal(rig_verify(&rig), VERDICT_OK);
	assert_true(log_holds("\"reason\":\"unclean_stop\""));
	/* the declaration holds exactly those bytes */
	cut_file(rig.log_fd, "seg-00000000000000000000.jsonl", 1);
	assert_int_equal(rig_verify(&rig), VERDICT_TAMPERED);
}

/* What log rotators and careless hands do to the file that is being written. */
static void
shorten(void)
{
	cut_file(rig.log_fd, "seg-00000000000000000000.jsonl", 10);
}

static void
rename_away(void)
{
	renameat(rig.log_fd, "seg-00000000000000000000.jsonl", rig.log_fd, "seg-00000000000000000000.jsonl.1");
}

static void
take_away(void)
{
	unlinkat(rig.log_fd, "seg-00000000000000000000.jsonl", 0);
}

static void
put_a_link(void)
{
	rename_away();
	symlinkat("seg-00000000000000000000.jsonl.1", rig.log_fd, "seg-00000000000000000000.jsonl");
}

static void
lengthen(void)
{
	int fd = openat(rig.log_fd, "seg-00000000000000000000.jsonl", O_WRONLY | O_APPEND | O_CLOEXEC);

	assert_int_equal(write(fd, "x\n", 2), 2);
	close(fd);
}

static void
a_segment_that_is_changed_from_outside_is_written_no_more(void **state)
{
	void (*const changes[])(void) = { shorten, rename_away, take_away, put_a_link };

	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		if (i > 0)
			begin(state);
		start_greeted();
		rig_record(&rig, "job.proposed", "{}");
		changes[i]();
		rig_record(&rig, "job.proposed", "{}");
		assert_int_equal(rig_wait(&rig), 1);
		rig_start(&rig); /* and no start goes on with what is left */
		rig_greet(&rig, false);
		assert_int_equal(rig_wait(&rig), 1);
		if (i + 1 < sizeof(changes) / sizeof(changes[0]))
			end(state);
	}
}

static void
lines_of_others_are_declared_as_torn(void **state)
{
	(void)state;
	start_greeted();
	rig_record(&rig, "job.proposed", "{}");
	lengthen();
	rig_record(&rig, "job.proposed", "{}");
	assert_int_equal(rig_wait(&rig), 1);
	start_greeted();
	rig_stop(&rig);
	assert_int_equal(rig_verify(&rig), VERDICT_OK);
	assert_true(log_holds("\"torn\":2"));
}

static void
recover_prints_the_segment_that_the_next_start_opens(void **state)
{
	int output[2];
	char name[64] = "";

	(void)state;
	for (unsigned i = 0; i < 2; i++) { /* a new log, and one that is there */
		assert_int_equal(pipe2(output, O_CLOEXEC), 0);
		rig_start_with(&rig, "recover", output[1]);
		close(output[1]);
		assert_true(read(output[0], name, sizeof(name)) > 0);
		close(output[0]);
		assert_int_equal(rig_wait(&rig), 0);
		assert_string_equal(name, "seg-00000000000000000000.jsonl\n");
		start_greeted();
		rig_record(&rig, "job.proposed", "{}");
		rig_stop(&rig);
		assert_int_equal(rig_segments(&rig), 1);
	}
	assert_int_equal(rig_verify(&rig), VERDICT_OK);
}

static void
term_ends_it_in_good_order(void **state)
{
	(void)state;
	start_greeted();
	rig_record(&rig, "job.proposed", "{}");
	kill(rig.pid, SIGTERM);
	assert_int_equal(rig_wait(&rig), 0);
	assert_int_equal(rig_verify(&rig), VERDICT_OK);
}

/* Records until the auditor is killed from behind; what it acknowledged is never gone. */
static void
be_killed(unsigned microseconds)
{
	uint64_t sn = rig.next_sn;
	pid_t killer = fork();

	if (killer == 0) {
		usleep(microseconds);
		kill(rig.pid, SIGKILL);
		_exit(0);
	}
	for (bool lives = true; lives;) {
		struct message answer = { 0 }, append = { .type = MSG_RECORD_APPEND };
		enum channel_got got;

		append.body.record_append.sn = sn;
		snprintf(append.body.record_append.type, RECORD_TYPE_BYTES, sn % 7 ? "job.queued" : "job.approved");
		append.descriptors[0] = sealed_make("d", "{\"job\":\"one\"}", 13);
		if (channel_send(&rig.broker, &append) == 0)
			sn++;
		close(append.descriptors[0]);
		while ((got = channel_take(&rig.broker, &answer, NULL)) == CHANNEL_MESSAGE)
			rig_note_ack(&rig, &answer);
		lives = got != CHANNEL_CLOSED;
	}
	waitpid(killer, NULL, 0);
	assert_int_equal(rig_wait(&rig), 128 + SIGKILL);
	rig.next_sn = sn; /* what its outbox holds */
}

static void
killed_at_random_it_loses_nothing_it_acknowledged(void **state)
{
	unsigned seed = getenv("KILL_SEED") ? (unsigned)strtoul(getenv("KILL_SEED"), NULL, 10) : 20260921;

	(void)state;
	for (unsigned i = 0; i < KILL_ROUNDS; i++) {
		struct message welcome;

		rig_start(&rig);
		welcome = rig_greet(&rig, false);
		assert_int_equal(welcome.type, MSG_BROKER_WELCOME);
		assert_true(!rig.has_acked || welcome.body.broker_welcome.last_sn + 1 > rig.acked.sn);
		rig.next_sn = welcome.body.broker_welcome.last_sn + 1;
		be_killed((unsigned)rand_r(&seed) % 12000);
	}
	rig_start(&rig);
	rig.next_sn = rig_greet(&rig, false).body.broker_welcome.last_sn + 1;
	assert_int_equal(rig_record(&rig, "job.proposed", "{}").type, MSG_RECORD_SYNCED);
	assert_int_equal(rig_stop(&rig), 0);
	assert_int_equal(rig_verify(&rig), VERDICT_OK);
}

/* --- space --------------------------------------------------------------------------------- */

static int
fill(int folder_fd)
{
	int fd = openat(folder_fd, "ballast", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	static const char zeros[4096];

	while (write(fd, zeros, sizeof(zeros)) > 0)
		;
	return fd;
}

static void
low_space_stops_new_runs_before_it_stops_the_log(void **state)
{
	static char body[60000];
	struct message answer = { 0 };
	int ballast;

	(void)state;
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", rig.folder, "tmpfs", 0, "size=12m") < 0) {
		print_message("skipped: no mount of our own: %s\n", strerror(errno));
		skip();
	}
	close(rig.log_fd);
	close(rig.key_fd);
	rig_open(&rig);
	start_greeted();
	rig_dispatch(&rig, 1, 1);
	ballast = fill(rig.key_fd);
	memset(body, 'x', sizeof(body) - 1);
	memcpy(body, "{\"a\":\"", 6);
	memcpy(body + sizeof(body) - 3, "\"}", 2);
	for (unsigned i = 0; i < 40; i++)
		assert_int_equal(rig_record(&rig, "job.proposed", body).type, MSG_RECORD_SYNCED);
	answer = rig_dispatch(&rig, 2, 1);
	assert_refused(&answer, REFUSAL_FULL);
	answer = rig_intent(&rig, 1, 1, 1);
	assert_int_equal(answer.type, MSG_INTENT_REFUSED);
	assert_int_equal(answer.body.intent_refused.code, REFUSAL_FULL);
	assert_int_equal(rig_fact(&rig, 1, 1, FACT_LOST).type, MSG_FACT_RECORDED);
	assert_int_equal(ftruncate(ballast, 0), 0);
	close(ballast);
	usleep(1200000);
	assert_int_equal(rig_dispatch(&rig, 3, 1).type, MSG_RECORD_SYNCED);
	assert_int_equal(rig_intent(&rig, 3, 1, 3).type, MSG_INTENT_PERMITTED);
	assert_int_equal(rig_stop(&rig), 0);
	assert_int_equal(rig_verify(&rig), VERDICT_OK);
	unlinkat(rig.key_fd, "ballast", 0);
	close(rig.log_fd);
	close(rig.key_fd);
	umount(rig.folder);
	rig_open(&rig);
}

#define WITH_LOG(test) cmocka_unit_test_setup_teardown(test, begin, end)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_LOG(a_record_is_answered_when_it_is_in_the_log),
		WITH_LOG(the_same_record_again_is_a_duplicate_and_no_new_line),
		WITH_LOG(a_gap_is_refused_with_the_number_expected),
		WITH_LOG(bodies_that_are_not_strict_and_types_of_others_are_refused),
		WITH_LOG(a_body_too_long_for_a_line_is_refused),
		WITH_LOG(two_tales_under_one_number_are_recorded_and_the_broker_is_frozen),
		WITH_LOG(an_intent_is_permitted_once_and_only_after_its_seal),
		WITH_LOG(an_intent_that_nobody_dispatched_is_refused_and_recorded),
		WITH_LOG(a_dispatch_without_approval_permits_nothing),
		WITH_LOG(the_tables_are_rebuilt_from_the_log),
		WITH_LOG(an_end_is_recorded_once_and_a_start_before_it),
		WITH_LOG(the_head_is_sealed_and_its_segments_are_handed_over),
		WITH_LOG(a_record_is_sealed_within_two_seconds),
		WITH_LOG(many_records_at_once_are_all_answered_and_sealed_in_time),
		WITH_LOG(an_acknowledged_record_of_long_ago_is_found),
		WITH_LOG(a_large_segment_is_followed_by_another),
		WITH_LOG(a_broker_that_does_not_read_does_not_stop_the_executor),
		WITH_LOG(a_record_before_the_greeting_is_a_breach),
		WITH_LOG(a_record_that_is_not_sealed_is_a_breach),
		WITH_LOG(facts_of_another_kind_are_a_breach),
		WITH_LOG(a_second_auditor_ends_at_once),
		WITH_LOG(a_log_without_the_acknowledged_record_is_refused),
		WITH_LOG(a_database_that_was_put_back_is_refused_unless_resync_is_ordered),
		WITH_LOG(a_log_cut_behind_a_seal_is_refused),
		WITH_LOG(a_log_that_is_gone_is_refused_while_its_key_is_there),
		WITH_LOG(a_log_without_its_key_is_refused),
		WITH_LOG(keys_that_others_may_read_are_refused_and_so_is_what_is_no_file),
		WITH_LOG(a_torn_end_is_declared_and_stays),
		WITH_LOG(a_segment_that_is_changed_from_outside_is_written_no_more),
		WITH_LOG(lines_of_others_are_declared_as_torn),
		WITH_LOG(recover_prints_the_segment_that_the_next_start_opens),
		WITH_LOG(term_ends_it_in_good_order),
		WITH_LOG(killed_at_random_it_loses_nothing_it_acknowledged),
		WITH_LOG(low_space_stops_new_runs_before_it_stops_the_log),
	};

	cmocka_set_test_filter(getenv("AUDITOR_TEST")); /* one of them alone */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
