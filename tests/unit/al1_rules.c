/* links: auditor/record.c auditor/strict.c auditor/scan.c auditor/tree.c auditor/chain.c auditor/rekey.c auditor/cut.c auditor/walk.c shared/packed.c auditor/dispatch.c auditor/sign.c auditor/journal.c auditor/seals.c auditor/checkpoint.c auditor/verify/verify.c auditor/segments.c shared/digest.c shared/text.c shared/base64.c shared/vkey.c shared/log.c shared/whole.c */
/* libs: -lsodium -lzstd */
/* Each rule of the format by a log that breaks this one alone; and forgeries with a stolen key. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "text.h"

#include "al1_log.h"

#define JOB "\"job\":\"j1\""
#define RUN JOB ",\"attempt\":1"
#define SPEC ",\"spec_sha256\":\"6b1c\""

static struct log log_made;

static int
begin(void **state)
{
	(void)state;
	digest_open();
	log_forget();
	log_begin(&log_made);
	return 0;
}

static void
broker(const char *type, const char *body)
{
	log_add(&log_made, RECORD_BROKER, type, body);
}

static void
executor(const char *type, const char *body)
{
	log_add(&log_made, RECORD_EXECUTOR, type, body);
}

/* The verdict and the first bad line's reason. */
static void
expect(enum verdict verdict, const char *reason)
{
	enum verdict found = log_judge(&log_made);

	assert_string_equal(log_verdict.reason, reason);
	assert_int_equal(found, verdict);
}

static void
expect_tampered(const char *reason)
{
	expect(VERDICT_TAMPERED, reason);
}

/* A line with one field wrong, sealed as if it were right. */
static void
expect_bad_line(struct record record, const char *reason)
{
	if (!record.body)
		record.body = "{}";
	if (record.type[0] == '\0')
		snprintf(record.type, sizeof(record.type), "job.proposed");
	log_put(&log_made, record);
	log_seal(&log_made);
	expect_tampered(reason);
	assert_int_equal(log_verdict.walk.fault.line, 3);
	assert_int_equal(log_verdict.walk.fault.offset, log_made.lines[2]);
}

static void
a_log_with_one_record_is_valid(void **state)
{
	(void)state;
	broker("job.proposed", "{}");
	log_seal(&log_made);
	expect(VERDICT_OK, "");
}

static void
no_log_is_never_valid(void **state)
{
	(void)state;
	assert_int_equal(log_judge_segments(NULL, NULL, NULL, 0, NULL, 0), VERDICT_TAMPERED);
	assert_string_equal(log_verdict.reason, "there is no log");
}

static void
an_empty_file_is_never_valid(void **state)
{
	(void)state;
	log_empty(&log_made);
	expect_tampered("there is no log");
}

static void
a_genesis_alone_is_never_valid(void **state)
{
	(void)state;
	expect(VERDICT_INCOMPLETE, "nothing is recorded but the log's own beginning");
	log_empty(&log_made);
	log_add(&log_made, RECORD_AUDITOR, "log.genesis", "{}");
	expect_tampered("genesis: origin expected");
}

static void
a_seq_that_jumps_is_found(void **state)
{
	(void)state;
	expect_bad_line((struct record){ .source = RECORD_BROKER, .seq = 1 }, "seq does not follow");
}

static void
an_sn_that_jumps_is_found(void **state)
{
	(void)state;
	expect_bad_line((struct record){ .source = RECORD_BROKER, .sn = 1 }, "sn does not follow");
}

static void
a_prev_of_another_line_is_found(void **state)
{
	(void)state;
	log_made.chain.head[0] ^= 1;
	expect_bad_line((struct record){ .source = RECORD_BROKER }, "prev is not the hash of the line before");
}

static void
a_log_type_of_another_source_is_found(void **state)
{
	(void)state;
	expect_bad_line((struct record){ .source = RECORD_BROKER, .type = "log.seal" }, "type is not this source's");
}

static void
an_unknown_log_type_is_found(void **state)
{
	(void)state;
	expect_bad_line((struct record){ .source = RECORD_AUDITOR, .type = "log.other" }, "type is not this source's");
}

static void
a_time_of_another_form_is_found(void **state)
{
	(void)state;
	expect_bad_line((struct record){ .source = RECORD_BROKER, .time = "2026-09-21T14:13:20.000000+" }, "header: t");
}

static void
a_body_that_is_not_strict_is_found(void **state)
{
	(void)state;
	expect_bad_line((struct record){ .source = RECORD_BROKER, .body = "{\"a\":1,\"a\":1}" }, "duplicate key");
}

static void
a_rekey_inside_a_segment_is_found(void **state)
{
	(void)state;
	expect_bad_line((struct record){ .source = RECORD_AUDITOR, .type = "log.rekey" },
	    "log.rekey is not the second line of a segment");
}

static void
a_second_genesis_is_found(void **state)
{
	(void)state;
	expect_bad_line((struct record){ .source = RECORD_AUDITOR, .type = "log.genesis" }, "a second log.genesis");
}

static void
a_segment_line_inside_a_segment_is_found(void **state)
{
	(void)state;
	expect_bad_line((struct record){ .source = RECORD_AUDITOR, .type = "log.segment" },
	    "log.segment inside a segment");
}

static void
a_genesis_of_another_key_or_origin_is_found(void **state)
{
	uint8_t key[32] = { 1 };

	(void)state;
	log_seal(&log_made);
	assert_int_equal(log_judge_segments(&(const char *){ log_made.bytes }, &log_made.length, &(uint64_t){ 0 }, 1,
	    key, 0), VERDICT_TAMPERED);
	assert_string_equal(log_verdict.reason, "genesis: another key");
	log_empty(&log_made);
	log_add(&log_made, RECORD_AUDITOR, "log.genesis",
	    "{\"origin\":\"other\",\"key\":\"aPDjKlSvDL9lA3saaghJxtLs34e/ePjnQoI+UboLdPA=\"}");
	expect_tampered("genesis: another origin");
}

static void
seal_zero_must_come_second(void **state)
{
	uint8_t state_0[32];

	(void)state;
	memcpy(state_0, log_made.state, 32);
	log_empty(&log_made);
	log_add(&log_made, RECORD_AUDITOR, "log.genesis",
	    "{\"origin\":\"" LOG_ORIGIN "\",\"key\":\"aPDjKlSvDL9lA3saaghJxtLs34e/ePjnQoI+UboLdPA=\"}");
	broker("job.proposed", "{}");
	log_seal(&log_made);
	expect_tampered("the second line is not seal 0");
}

/* --- seals ------------------------------------------------------------------------ */

static void
a_seal_with_another_number_is_found(void **state)
{
	(void)state;
	log_made.chain.next_seal = 2;
	log_seal(&log_made);
	expect_tampered("seal: number");
}

static void
a_seal_with_another_root_is_found(void **state)
{
	struct tree right = log_made.chain.tree;

	(void)state;
	log_made.chain.tree.peaks[0][0] ^= 1;
	log_seal(&log_made);
	log_made.chain.tree = right;
	expect_tampered("seal: root");
}

static void
a_seal_of_another_key_is_found(void **state)
{
	(void)state;
	log_made.state[0] ^= 1;
	log_seal(&log_made);
	expect_tampered("seal: signature");
}

static void
a_seal_of_another_origin_is_found(void **state)
{
	(void)state;
	snprintf(log_made.chain.origin, sizeof(log_made.chain.origin), "example.org/host2/audit");
	log_seal(&log_made);
	expect_tampered("seal: signature");
}

static void
lines_without_a_seal_are_at_most_256(void **state)
{
	(void)state;
	for (unsigned i = 0; i < CHAIN_UNSEALED_MAX; i++)
		broker("job.queued", "{}");
	log_seal(&log_made);
	expect(VERDICT_OK, "");
	for (unsigned i = 0; i < CHAIN_UNSEALED_MAX + 1; i++)
		broker("job.queued", "{}");
	log_seal(&log_made);
	expect_tampered("more than 256 lines without a seal");
	assert_int_equal(log_verdict.walk.fault.seq, 2 + 2 * CHAIN_UNSEALED_MAX + 1);
}

static void
a_tail_without_a_seal_is_incomplete(void **state)
{
	(void)state;
	broker("job.proposed", "{}");
	expect(VERDICT_INCOMPLETE, "the last lines are not sealed");
}

static void
an_old_seal_is_stale_only_when_age_is_asked_for(void **state)
{
	(void)state;
	broker("job.proposed", "{}");
	log_seal(&log_made);
	log_made.now_us += 1801 * UINT64_C(1000000);
	expect(VERDICT_OK, "");
	log_verdict.max_age_seconds = 1800;
	expect(VERDICT_INCOMPLETE, "the last seal is too old: possibly cut");
	assert_string_equal(log_verdict.word, "stale");
	log_made.now_us -= 2000000;
	expect(VERDICT_OK, "");
}

/* --- segments ------------------------------------------------------------------------ */

static void
make_two_segments(void)
{
	broker("job.proposed", "{}");
	log_seal(&log_made);
	log_join(&log_made);
	log_seal(&log_made);
}

static void
a_segment_chain_runs_through(void **state)
{
	(void)state;
	make_two_segments();
	expect(VERDICT_OK, "");
}

static void
a_segment_that_begins_otherwise_is_found(void **state)
{
	(void)state;
	broker("job.proposed", "{}");
	log_made.starts[1] = log_made.length;
	log_made.start_seqs[1] = log_made.chain.next_seq;
	log_made.segment_count = 2;
	log_seal(&log_made);
	expect_tampered("the segment does not begin with log.segment");
}

static void
a_segment_under_another_name_is_found(void **state)
{
	(void)state;
	make_two_segments();
	log_made.start_seqs[1]++;
	expect_tampered("a segment is missing or misnamed");
}

static void
a_missing_first_segment_is_found(void **state)
{
	(void)state;
	make_two_segments();
	memmove(log_made.starts, log_made.starts + 1, sizeof(log_made.starts[0]));
	memmove(log_made.start_seqs, log_made.start_seqs + 1, sizeof(log_made.start_seqs[0]));
	log_made.segment_count = 1;
	expect_tampered("a segment is missing or misnamed");
}

/* `torn` bytes behind the first segment; `told` of them are declared in the second. */
static void
tear(const char *torn, size_t length, size_t told)
{
	struct chain_joint joint = { .torn = told };
	char body[256];

	broker("job.proposed", "{}");
	log_seal(&log_made);
	memcpy(log_made.bytes + log_made.length, torn, length);
	log_made.length += length;
	digest_take(joint.torn_sha256, torn, told);
	log_made.starts[1] = log_made.length;
	log_made.start_seqs[1] = log_made.chain.next_seq;
	log_made.segment_count = 2;
	chain_segment_body(body, sizeof(body), &joint);
	log_add(&log_made, RECORD_AUDITOR, "log.segment", body);
	log_seal(&log_made);
}

static void
torn_bytes_that_are_declared_are_no_fault(void **state)
{
	(void)state;
	tear("{\"v\":1\0\n\0x", 10, 10); /* even with a newline among them */
	expect(VERDICT_OK, "");
}

static void
torn_bytes_that_are_not_declared_are_the_fault(void **state)
{
	(void)state;
	tear("{\"v\":1,\"seq\"", 12, 11);
	expect_tampered("line is not complete");
	assert_int_equal(log_verdict.walk.fault.segment, 0);
}

static void
declared_torn_bytes_that_are_gone_are_found(void **state)
{
	(void)state;
	tear("", 0, 0);
	log_begin(&log_made);
	broker("job.proposed", "{}");
	log_seal(&log_made);
	log_made.starts[1] = log_made.length;
	log_made.start_seqs[1] = log_made.chain.next_seq;
	log_made.segment_count = 2;
	log_add(&log_made, RECORD_AUDITOR, "log.segment", "{\"after\":\"seg-00000000000000000000.jsonl\",\"torn\":3,"
	    "\"torn_sha256\":\"0000000000000000000000000000000000000000000000000000000000000000\"}");
	log_seal(&log_made);
	expect_tampered("segment: does not tell the end of the segment before");
}

static void
a_complete_line_of_garbage_at_the_end_is_tampering(void **state)
{
	(void)state;
	broker("job.proposed", "{}");
	log_seal(&log_made);
	memcpy(log_made.bytes + log_made.length, "garbage\n", 8);
	log_made.length += 8;
	expect_tampered("header: v or seq");
}

static void
a_line_longer_than_any_is_tampering(void **state)
{
	(void)state;
	broker("job.proposed", "{}");
	log_seal(&log_made);
	memset(log_made.bytes + log_made.length, 'x', 3 * LIMIT_RECORD_BYTES);
	log_made.length += 3 * LIMIT_RECORD_BYTES;
	expect(VERDICT_INCOMPLETE, "the last line is not complete");
	log_made.bytes[log_made.length - 1] = '\n';
	expect_tampered("line is too long");
}

/* --- runs ---------------------------------------------------------------------------- */

static void
an_intent_with_dispatch_and_approval_is_valid(void **state)
{
	(void)state;
	broker("job.approved", "{" JOB "}");
	broker("job.dispatch", "{" RUN SPEC "}");
	executor("exec.intent", "{" RUN SPEC "}");
	log_seal(&log_made);
	expect(VERDICT_OK, "");
	assert_int_equal(dispatch_running(&log_verdict.dispatch), 1);
	executor("exec.start", "{" RUN "}");
	executor("exec.exit", "{" RUN "}");
	log_seal(&log_made);
	expect(VERDICT_OK, "");
	assert_int_equal(dispatch_running(&log_verdict.dispatch), 0);
}

#define UNDISPATCHED "exec.intent without an open job.dispatch of the same job, attempt and digest"

static void
an_intent_without_dispatch_is_found(void **state)
{
	(void)state;
	broker("job.approved", "{" JOB "}");
	executor("exec.intent", "{" RUN SPEC "}");
	log_seal(&log_made);
	expect_tampered(UNDISPATCHED);
	assert_int_equal(log_verdict.walk.fault.seq, 3);
}

static void
an_intent_with_another_digest_or_attempt_is_found(void **state)
{
	(void)state;
	broker("job.approved", "{" JOB "}");
	broker("job.dispatch", "{" RUN SPEC "}");
	executor("exec.intent", "{" JOB ",\"attempt\":2" SPEC "}");
	log_seal(&log_made);
	expect_tampered(UNDISPATCHED);
	begin(NULL);
	broker("job.approved", "{" JOB "}");
	broker("job.dispatch", "{" RUN SPEC "}");
	executor("exec.intent", "{" RUN ",\"spec_sha256\":\"6b1d\"}");
	log_seal(&log_made);
	expect_tampered(UNDISPATCHED);
}

static void
a_second_intent_for_one_dispatch_is_found(void **state)
{
	(void)state;
	broker("job.approved", "{" JOB "}");
	broker("job.dispatch", "{" RUN SPEC "}");
	executor("exec.intent", "{" RUN SPEC "}");
	executor("exec.exit", "{" RUN "}");
	broker("job.dispatch", "{" RUN SPEC "}"); /* the same attempt again does not open it */
	executor("exec.intent", "{" RUN SPEC "}");
	log_seal(&log_made);
	expect_tampered(UNDISPATCHED);
}

static void
an_intent_without_approval_is_found(void **state)
{
	(void)state;
	broker("job.approved", "{\"job\":\"j2\"}");
	broker("job.dispatch", "{" RUN SPEC "}");
	executor("exec.intent", "{" RUN SPEC "}");
	log_seal(&log_made);
	expect_tampered("exec.intent without job.approved");
}

static void
a_broker_cannot_speak_for_the_executor(void **state)
{
	(void)state;
	executor("job.approved", "{" JOB "}");
	executor("job.dispatch", "{" RUN SPEC "}");
	executor("exec.intent", "{" RUN SPEC "}");
	log_seal(&log_made);
	expect_tampered(UNDISPATCHED);
}

/* --- outputs --- */

#define HEX "abababababababababababababababababababababababababababababababab"
#define STREAM(name, last) \
	",\"" name "_sha256\":\"" HEX "\",\"" name "_stored_sha256\":\"" HEX last "\""

static void
run_with(const char *output, const char *end)
{
	broker("job.approved", "{" JOB "}");
	broker("job.dispatch", "{" RUN SPEC "}");
	executor("exec.intent", "{" RUN SPEC "}");
	executor("exec.start", "{" RUN "}");
	if (output)
		executor("exec.output", output);
	executor("exec.exit", end);
	log_seal(&log_made);
}

static void
an_end_that_agrees_with_its_output_is_valid(void **state)
{
	(void)state;
	run_with("{" RUN STREAM("stdout", "") STREAM("stderr", "") "}",
	    "{" RUN STREAM("stdout", "") STREAM("stderr", "") "}");
	expect(VERDICT_OK, "");
	assert_int_equal(dispatch_running(&log_verdict.dispatch), 0);
}

static void
an_older_log_without_exec_output_is_valid(void **state)
{
	(void)state;
	run_with(NULL, "{" RUN STREAM("stdout", "") STREAM("stderr", "") "}");
	expect(VERDICT_OK, "");
}

static void
an_end_that_tells_of_another_output_is_found(void **state)
{
	(void)state;
	run_with("{" RUN STREAM("stdout", "") STREAM("stderr", "") "}",
	    "{" RUN STREAM("stdout", "") STREAM("stderr", "0") "}");
	expect_tampered("exec.exit tells of another output than exec.output");
}

static void
an_output_without_digests_is_found(void **state)
{
	(void)state;
	run_with("{" RUN STREAM("stdout", "") "}", "{" RUN "}");
	expect_tampered("exec.output without the digests of both streams");
}

/* --- forgeries: the thief has the key that is current at the end, s_5 ---------------------- */

/* Five seals over three records; s[n] is what the thief would have at that point. */
static void
make_victim(uint8_t s[6][32])
{
	memcpy(s[1], log_made.state, 32);
	for (unsigned i = 1; i < 5; i++) {
		broker("job.proposed", "{\"n\":1}");
		log_seal(&log_made);
		memcpy(s[i + 1], log_made.state, 32);
	}
	expect(VERDICT_OK, "");
}

/* The lines of `from`, with the body of line `changed` another one and all hashes made new. */
static void
rebuild(const struct log *from, size_t changed, uint8_t (*keys)[32], bool with_seals)
{
	size_t seal = 0;

	log_empty(&log_made);
	for (size_t i = 0; i < from->line_count; i++) {
		struct record record;
		const char *why;

		if (!record_parse(from->bytes + from->lines[i], from->lines[i + 1] - from->lines[i], &record, &why))
			abort();
		record.seq = record.sn = 0;
		if (i == changed) {
			record.body = "{\"n\":2}";
			record.body_length = strlen(record.body);
		}
		if (strcmp(record.type, "log.seal") != 0)
			log_put(&log_made, record);
		else if (i == 1 || (with_seals && !keys))
			log_put(&log_made, record); /* as it was */
		else if (with_seals) {
			log_made.chain.next_seal = ++seal;
			log_seal_with(&log_made, keys[0]);
		}
	}
}

static struct log victim;

static void
forgery_1_an_edited_line_is_found(void **state)
{
	uint8_t s[6][32];

	(void)state;
	make_victim(s);
	log_made.bytes[log_made.lines[3] - 4] ^= 1;
	expect_tampered("prev is not the hash of the line before");
}

static void
forgery_2_a_rebuilt_chain_is_found(void **state)
{
	uint8_t s[6][32];

	(void)state;
	make_victim(s);
	victim = log_made;
	rebuild(&victim, 2, NULL, true);
	expect_tampered("seal: root");
}

static void
forgery_3_a_rebuilt_chain_signed_with_the_stolen_key_is_found(void **state)
{
	uint8_t s[6][32];

	(void)state;
	make_victim(s);
	victim = log_made;
	rebuild(&victim, 2, &s[5], true);
	expect_tampered("seal: signature");
}

static void
forgery_4_a_chain_without_any_seal_is_found(void **state)
{
	char body[256];
	uint8_t key[32], s0[32];

	(void)state;
	for (unsigned i = 0; i < 32; i++)
		s0[i] = (uint8_t)i;
	log_key(s0, key);
	log_empty(&log_made);
	chain_genesis_body(body, sizeof(body), LOG_ORIGIN, key);
	log_add(&log_made, RECORD_AUDITOR, "log.genesis", body);
	for (unsigned i = 0; i < 10; i++)
		broker("job.proposed", "{}");
	expect_tampered("the second line is not seal 0");
}

static void
forgery_5_a_log_cut_at_a_seal_and_continued_with_the_stolen_key_is_found(void **state)
{
	uint8_t s[6][32];

	(void)state;
	make_victim(s);
	begin(NULL);
	broker("job.proposed", "{\"n\":1}"); /* up to seal 1 it is the victim's */
	log_seal(&log_made);
	broker("job.proposed", "{\"forged\":1}");
	log_seal_with(&log_made, s[5]);
	expect_tampered("seal: signature");
}

static void
forgery_6_a_chain_with_seal_zero_only_is_never_valid(void **state)
{
	uint8_t s[6][32];

	(void)state;
	make_victim(s);
	victim = log_made;
	rebuild(&victim, 2, NULL, false);
	expect(VERDICT_INCOMPLETE, "the last lines are not sealed");
	for (unsigned i = 0; i < CHAIN_UNSEALED_MAX; i++)
		broker("job.queued", "{}");
	expect_tampered("more than 256 lines without a seal");
}

/* The honest limit: who holds the key from now on can lie from now on. */
static void
forgery_7_lies_after_the_theft_are_not_found(void **state)
{
	uint8_t s[6][32];

	(void)state;
	make_victim(s);
	broker("job.proposed", "{\"forged\":1}");
	log_seal_with(&log_made, s[5]);
	expect(VERDICT_OK, "");
}

#define WITH_LOG(test) cmocka_unit_test_setup(test, begin)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_LOG(a_log_with_one_record_is_valid),
		WITH_LOG(no_log_is_never_valid),
		WITH_LOG(an_empty_file_is_never_valid),
		WITH_LOG(a_genesis_alone_is_never_valid),
		WITH_LOG(a_seq_that_jumps_is_found),
		WITH_LOG(an_sn_that_jumps_is_found),
		WITH_LOG(a_prev_of_another_line_is_found),
		WITH_LOG(a_log_type_of_another_source_is_found),
		WITH_LOG(an_unknown_log_type_is_found),
		WITH_LOG(a_time_of_another_form_is_found),
		WITH_LOG(a_body_that_is_not_strict_is_found),
		WITH_LOG(a_rekey_inside_a_segment_is_found),
		WITH_LOG(a_second_genesis_is_found),
		WITH_LOG(a_segment_line_inside_a_segment_is_found),
		WITH_LOG(a_genesis_of_another_key_or_origin_is_found),
		WITH_LOG(seal_zero_must_come_second),
		WITH_LOG(a_seal_with_another_number_is_found),
		WITH_LOG(a_seal_with_another_root_is_found),
		WITH_LOG(a_seal_of_another_key_is_found),
		WITH_LOG(a_seal_of_another_origin_is_found),
		WITH_LOG(lines_without_a_seal_are_at_most_256),
		WITH_LOG(a_tail_without_a_seal_is_incomplete),
		WITH_LOG(an_old_seal_is_stale_only_when_age_is_asked_for),
		WITH_LOG(a_segment_chain_runs_through),
		WITH_LOG(a_segment_that_begins_otherwise_is_found),
		WITH_LOG(a_segment_under_another_name_is_found),
		WITH_LOG(a_missing_first_segment_is_found),
		WITH_LOG(torn_bytes_that_are_declared_are_no_fault),
		WITH_LOG(torn_bytes_that_are_not_declared_are_the_fault),
		WITH_LOG(declared_torn_bytes_that_are_gone_are_found),
		WITH_LOG(a_complete_line_of_garbage_at_the_end_is_tampering),
		WITH_LOG(a_line_longer_than_any_is_tampering),
		WITH_LOG(an_intent_with_dispatch_and_approval_is_valid),
		WITH_LOG(an_intent_without_dispatch_is_found),
		WITH_LOG(an_intent_with_another_digest_or_attempt_is_found),
		WITH_LOG(a_second_intent_for_one_dispatch_is_found),
		WITH_LOG(an_intent_without_approval_is_found),
		WITH_LOG(a_broker_cannot_speak_for_the_executor),
		WITH_LOG(an_end_that_agrees_with_its_output_is_valid),
		WITH_LOG(an_older_log_without_exec_output_is_valid),
		WITH_LOG(an_end_that_tells_of_another_output_is_found),
		WITH_LOG(an_output_without_digests_is_found),
		WITH_LOG(forgery_1_an_edited_line_is_found),
		WITH_LOG(forgery_2_a_rebuilt_chain_is_found),
		WITH_LOG(forgery_3_a_rebuilt_chain_signed_with_the_stolen_key_is_found),
		WITH_LOG(forgery_4_a_chain_without_any_seal_is_found),
		WITH_LOG(forgery_5_a_log_cut_at_a_seal_and_continued_with_the_stolen_key_is_found),
		WITH_LOG(forgery_6_a_chain_with_seal_zero_only_is_never_valid),
		WITH_LOG(forgery_7_lies_after_the_theft_are_not_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
