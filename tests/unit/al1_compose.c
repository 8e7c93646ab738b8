/* links: auditor/compose.c auditor/compose_facts.c auditor/compose_end.c auditor/json_text.c auditor/strict.c auditor/scan.c shared/fields.c shared/digest.c shared/run.c shared/text.c shared/base64.c shared/log.c */
/* libs: -lsodium */
/* The JSON of the executor's records from its facts. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "digest.h"
#include "facts.h"
#include "fields.h"
#include "payloads.h"

#include "compose.h"
#include "strict.h"

static char body[LIMIT_RECORD_BODY];
static const struct run_name run = { .job = { 0xab }, .attempt = 2, .slot = 3 };
static const uint8_t digest[32] = { 0xcd };

struct intent {
	const void *arg; /* one more element behind "prog" */
	size_t arg_length;
	unsigned arg_count;
	const char *cwd;
	bool without_profile, twice_uid;
	unsigned secret_count;
	uint64_t secrets[3]; /* FACT_ARG_SECRET */
};

static size_t
compose(const struct intent *intent)
{
	const struct fact_limits limits = { .timeout_ms = 60000, .memory_bytes = UINT64_MAX, .cpu_percent = 50 };
	struct fields_writer writer;
	size_t length;

	fields_begin(&writer, FACTS_MAGIC);
	fields_put_text(&writer, FACT_ARG, "prog");
	for (unsigned i = 0; i < intent->arg_count; i++)
		fields_put(&writer, FACT_ARG, intent->arg, intent->arg_length);
	fields_put_text(&writer, FACT_CWD, intent->cwd ? intent->cwd : "/w");
	fields_put(&writer, FACT_ENV_SHA256, digest, 32);
	fields_put_u64(&writer, FACT_UID, 5);
	if (intent->twice_uid)
		fields_put_u64(&writer, FACT_UID, 5);
	fields_put_text(&writer, FACT_PROGRAM_TARGET, "/bin/prog");
	fields_put_u64(&writer, FACT_PROGRAM_DEV, 1);
	fields_put_u64(&writer, FACT_PROGRAM_INO, UINT64_MAX);
	fields_put(&writer, FACT_PROGRAM_SHA256, digest, 32);
	if (!intent->without_profile)
		fields_put_text(&writer, FACT_PROFILE, "default");
	fields_put_text(&writer, FACT_NETWORK, "tcp-ports 53 443");
	for (unsigned i = 0; i < intent->secret_count; i++)
		fields_put_u64(&writer, FACT_ARG_SECRET, intent->secrets[i]);
	fields_put(&writer, FACT_POLICY_SHA256, digest, 32);
	fields_put(&writer, FACT_LIMITS, &limits, sizeof(limits));
	length = compose_intent(body, &run, digest, writer.bytes, writer.length);
	fields_free(&writer);
	return length;
}

static void
assert_strict(size_t length)
{
	const char *why;

	assert_true(length > 0);
	if (!strict_object(body, length, &why))
		fail_msg("%s: %.*s", why, (int)length, body);
}

static void
an_intent_is_one_strict_object(void **state)
{
	static const char expected[] = "{\"job\":\"ab000000-0000-0000-0000-000000000000\",\"attempt\":2,\"slot\":3,"
	    "\"spec_sha256\":\"cd00000000000000000000000000000000000000000000000000000000000000\",\"argv\":[\"prog\"],"
	    "\"cwd\":\"/w\",\"env_sha256\":\"cd00000000000000000000000000000000000000000000000000000000000000\",\"uid\":5,"
	    "\"exe\":{\"path\":\"/bin/prog\",\"dev\":\"1\",\"ino\":\"18446744073709551615\","
	    "\"sha256\":\"cd00000000000000000000000000000000000000000000000000000000000000\"},\"profile\":\"default\",\"network\":\"tcp-ports 53 443\","
	    "\"policy_sha256\":\"cd00000000000000000000000000000000000000000000000000000000000000\","
	    "\"limits\":{\"timeout_ms\":60000,\"grace_ms\":0,\"keep_bytes\":0,\"output_bytes\":0,\"file_bytes\":0,"
	    "\"cpu_seconds\":0,\"open_files\":0,\"processes\":0,\"memory_bytes\":9007199254740991,\"tmp_bytes\":0,"
	    "\"idle_ms\":0,\"cpu_percent\":50}}";
	size_t length = compose(&(struct intent){ 0 });

	(void)state;
	assert_strict(length);
	assert_int_equal(length, strlen(expected));
	assert_memory_equal(body, expected, length);
}

static void
any_bytes_of_argv_become_strict_json(void **state)
{
	(void)state;
	for (unsigned c = 1; c < 256; c++) {
		uint8_t bytes[3] = { (uint8_t)c, '"', (uint8_t)c };

		assert_strict(compose(&(struct intent){ .arg = bytes, .arg_length = 3, .arg_count = 1 }));
	}
	assert_strict(compose(&(struct intent){ .arg = "\xff", .arg_length = 1, .arg_count = 1 }));
	assert_non_null(strstr(body, "[\"prog\",{\"b64\":\"/w==\"}]"));
}

static void
a_long_argv_becomes_count_bytes_and_digest(void **state)
{
	static char large[40000];
	struct digest_state sum;
	struct scan argv;
	uint64_t number;
	uint8_t wanted[32], found[32];
	size_t length;

	(void)state;
	memset(large, 'x', sizeof(large));
	length = compose(&(struct intent){ .arg = large, .arg_length = 32000, .arg_count = 1 });
	assert_strict(length);
	assert_null(strstr(body, "\"count\""));
	length = compose(&(struct intent){ .arg = large, .arg_length = 20000, .arg_count = 2 });
	assert_strict(length);
	assert_true(strict_member(body, length, "argv", &argv));
	assert_true(strict_number(argv.at, argv.left, "count", &number));
	assert_int_equal(number, 3);
	assert_true(strict_number(argv.at, argv.left, "bytes", &number));
	assert_int_equal(number, 40004);
	digest_begin(&sum);
	digest_add(&sum, "prog", 5);
	for (unsigned i = 0; i < 2; i++) {
		digest_add(&sum, large, 20000);
		digest_add(&sum, "", 1);
	}
	digest_end(&sum, wanted);
	assert_true(strict_text(argv.at, argv.left, "sha256", &argv) && scan_hex(&argv, found, 32));
	assert_memory_equal(found, wanted, 32);
}

static void
a_secret_argument_is_told_by_its_hmac(void **state)
{
	static const char mac[] = "abababababababababababababababababababababababababababababababab";

	(void)state;
	assert_strict(compose(&(struct intent){ .arg = mac, .arg_length = 64, .arg_count = 2, .secret_count = 1,
	    .secrets = { 2 } }));
	assert_non_null(strstr(body, "\"argv\":[\"prog\",\"abab"));
	assert_non_null(strstr(body, "abab\",{\"redacted\":true,\"hmac\":\"abab"));
	/* An element that is not there, one twice, backwards. */
	assert_int_equal(compose(&(struct intent){ .arg = mac, .arg_length = 64, .arg_count = 1, .secret_count = 1,
	    .secrets = { 2 } }), 0);
	assert_int_equal(compose(&(struct intent){ .arg = mac, .arg_length = 64, .arg_count = 1, .secret_count = 2,
	    .secrets = { 1, 1 } }), 0);
	assert_int_equal(compose(&(struct intent){ .arg = mac, .arg_length = 64, .arg_count = 2, .secret_count = 2,
	    .secrets = { 2, 1 } }), 0);
}

static void
the_worst_paths_still_fit(void **state)
{
	static char path[LIMIT_PATH];

	(void)state;
	memset(path, 1, sizeof(path) - 1); /* six characters each, if it were escaped */
	assert_strict(compose(&(struct intent){ .cwd = path }));
	assert_non_null(strstr(body, "\"cwd\":{\"b64\":"));
}

static void
what_landlock_has_taken_is_told_with_the_start(void **state)
{
	const uint64_t handled[3] = { 0x1ffff, 15, 3 };
	struct fields_writer writer;
	size_t length;

	(void)state;
	fields_begin(&writer, FACTS_MAGIC);
	fields_put_u64(&writer, FACT_TIME_US, 1);
	fields_put_u64(&writer, FACT_LAYERS, LAYER_LANDLOCK);
	fields_put_u64(&writer, FACT_LANDLOCK_ABI, 10);
	fields_put(&writer, FACT_FILTER_SHA256, digest, 32);
	assert_int_equal(compose_fact(body, &run, FACT_STARTED, writer.bytes, writer.length), 0);
	fields_put(&writer, FACT_LANDLOCK_HANDLED, handled, sizeof(handled));
	length = compose_fact(body, &run, FACT_STARTED, writer.bytes, writer.length);
	fields_free(&writer);
	assert_strict(length);
	body[length] = '\0';
	assert_non_null(strstr(body, ",\"landlock\":{\"fs\":131071,\"net\":15,\"scoped\":3}}"));
}

static void
missing_doubled_and_foreign_facts_are_refused(void **state)
{
	struct fields_writer writer;

	(void)state;
	assert_int_equal(compose(&(struct intent){ .without_profile = true }), 0);
	assert_int_equal(compose(&(struct intent){ .twice_uid = true }), 0);
	assert_int_equal(compose_intent(body, &run, digest, "", 0), 0);
	fields_begin(&writer, FACTS_MAGIC);
	fields_put_u64(&writer, FACT_STAGE, 1);
	fields_put_u64(&writer, FACT_ERROR, 1);
	assert_true(compose_fact(body, &run, FACT_REFUSED, writer.bytes, writer.length) > 0);
	assert_int_equal(compose_fact(body, &run, FACT_STARTED, writer.bytes, writer.length), 0);
	assert_int_equal(compose_fact(body, &run, 0, writer.bytes, writer.length), 0);
	assert_int_equal(compose_fact(body, &run, 99, writer.bytes, writer.length), 0);
	fields_put_text(&writer, FACT_DETAIL, "more");
	assert_int_equal(compose_fact(body, &run, FACT_REFUSED, writer.bytes, writer.length), 0);
	fields_free(&writer);
}

static size_t
compose_end(const struct run_end *end)
{
	struct fields_writer writer;
	size_t length;

	fields_begin(&writer, FACTS_MAGIC);
	fields_put(&writer, FACT_END, end, sizeof(*end));
	length = compose_fact(body, &run, FACT_ENDED, writer.bytes, writer.length);
	fields_free(&writer);
	return length;
}

static void
an_end_tells_outcome_usage_layers_and_output(void **state)
{
	struct run_end end = { .outcome = OUTCOME_SIGNALLED, .exit_code = -1, .signal = 9, .flags = END_FORCED,
		.duration_us = 12, .layers = LAYER_SECCOMP | LAYER_OWN_UID, .out = { .bytes = 10, .stored_bytes = 4 } };

	(void)state;
	assert_strict(compose_end(&end));
	assert_non_null(strstr(body, "\"outcome\":\"signalled\",\"exit_code\":-1,\"signal\":9"));
	assert_non_null(strstr(body, "\"forced\":true"));
	assert_non_null(strstr(body, "\"leftovers\":false"));
	assert_non_null(strstr(body, "\"stdout_bytes\":10,\"stdout_stored_bytes\":4"));
	assert_non_null(strstr(body, "\"stderr_stored_sha256\":\"00"));
}

static void
the_output_is_a_record_of_its_own_with_what_was_masked(void **state)
{
	struct run_end end = { .outcome = OUTCOME_SUCCEEDED, .flags = END_CAPTURE_FAULT,
		.out = { .bytes = 10, .stored_bytes = 4, .head_bytes = 2, .redactions = 3,
		    .masked = { [MASKED_TOKEN] = 1, [MASKED_EXACT] = 2 }, .sha256 = { 1 }, .stored_sha256 = { 2 } },
		.err = { .bytes = 5 } };
	struct fields_writer writer;
	size_t length;

	(void)state;
	fields_begin(&writer, FACTS_MAGIC);
	fields_put(&writer, FACT_END, &end, sizeof(end));
	length = compose_output(body, &run, writer.bytes, writer.length);
	fields_free(&writer);
	assert_strict(length);
	body[length] = '\0';
	assert_non_null(strstr(body, "\"stdout_bytes\":10,\"stdout_stored_bytes\":4,\"stdout_truncated\":true,"
	    "\"stdout_sha256\":\"01"));
	assert_non_null(strstr(body, "\"stdout_head_bytes\":2,\"stdout_redactions\":3,"
	    "\"stdout_masked\":{\"token\":1,\"exact\":2},\"stderr_bytes\":5,\"stderr_stored_bytes\":0,"
	    "\"stderr_truncated\":true,"));
	assert_non_null(strstr(body, "\"stderr_masked\":{},\"capture_fault\":true}"));
	/* The end says the same of the streams. */
	assert_strict(compose_end(&end));
	assert_non_null(strstr(body, "\"stdout_bytes\":10,\"stdout_stored_bytes\":4,\"stdout_truncated\":true,"
	    "\"stdout_sha256\":\"01"));
}

static void
where_nothing_ran_there_is_no_output_on_record(void **state)
{
	struct run_end end = { .outcome = OUTCOME_CANCELLED };
	struct fields_writer writer;

	(void)state;
	fields_begin(&writer, FACTS_MAGIC);
	fields_put(&writer, FACT_END, &end, sizeof(end));
	assert_int_equal(compose_output(body, &run, writer.bytes, writer.length), 0);
	fields_put_text(&writer, FACT_DETAIL, "");
	fields_put_text(&writer, FACT_DETAIL, "");
	end.out.sha256[0] = 1;
	assert_int_equal(compose_output(body, &run, writer.bytes, writer.length), 0);
	fields_free(&writer);
}

static void
denied_calls_are_told_where_they_were_counted(void **state)
{
	struct run_end end = { .outcome = OUTCOME_SUCCEEDED, .denied_sha256 = { [31] = 7 } };

	(void)state;
	assert_strict(compose_end(&end));
	assert_non_null(strstr(body, "\"denied\":0,\"denied_sha256\":\"00"));
	end = (struct run_end){ .outcome = OUTCOME_SUCCEEDED, .denied = 5 };
	assert_strict(compose_end(&end));
	assert_null(strstr(body, "denied"));
}

static void
a_violation_tells_what_was_found_once(void **state)
{
	struct run_end end = { .outcome = OUTCOME_VIOLATED };
	struct fields_writer writer;

	(void)state;
	fields_begin(&writer, FACTS_MAGIC);
	fields_put(&writer, FACT_END, &end, sizeof(end));
	fields_put_text(&writer, FACT_DETAIL, "/ws/.claude: made\n");
	assert_strict(compose_fact(body, &run, FACT_ENDED, writer.bytes, writer.length));
	assert_non_null(strstr(body, "\"outcome\":\"violated\""));
	assert_non_null(strstr(body, ",\"detail\":\"/ws/.claude: made"));
	fields_put_text(&writer, FACT_DETAIL, "again");
	assert_int_equal(compose_fact(body, &run, FACT_ENDED, writer.bytes, writer.length), 0);
	assert_int_equal(compose_fact(body, &run, FACT_SIGNAL, writer.bytes, writer.length), 0);
	fields_free(&writer);
}

static void
an_end_that_cannot_be_is_refused(void **state)
{
	(void)state;
	assert_int_equal(compose_end(&(struct run_end){ .outcome = 0 }), 0);
	assert_int_equal(compose_end(&(struct run_end){ .outcome = OUTCOME_COUNT }), 0);
	assert_int_equal(compose_end(&(struct run_end){ .outcome = 1, .layers = 1ull << LAYER_COUNT }), 0);
	assert_int_equal(compose_end(&(struct run_end){ .outcome = 1, .ended_us = UINT64_MAX }), 0);
	assert_int_equal(compose_end(&(struct run_end){ .outcome = 1, .stage = STAGE_COUNT }), 0);
}

static int
open_digest(void **state)
{
	(void)state;
	digest_open();
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_intent_is_one_strict_object),
		cmocka_unit_test(any_bytes_of_argv_become_strict_json),
		cmocka_unit_test(a_long_argv_becomes_count_bytes_and_digest),
		cmocka_unit_test(a_secret_argument_is_told_by_its_hmac),
		cmocka_unit_test(the_worst_paths_still_fit),
		cmocka_unit_test(what_landlock_has_taken_is_told_with_the_start),
		cmocka_unit_test(missing_doubled_and_foreign_facts_are_refused),
		cmocka_unit_test(an_end_tells_outcome_usage_layers_and_output),
		cmocka_unit_test(the_output_is_a_record_of_its_own_with_what_was_masked),
		cmocka_unit_test(where_nothing_ran_there_is_no_output_on_record),
		cmocka_unit_test(an_end_that_cannot_be_is_refused),
		cmocka_unit_test(denied_calls_are_told_where_they_were_counted),
		cmocka_unit_test(a_violation_tells_what_was_found_once),
	};

	return cmocka_run_group_tests(tests, open_digest, NULL);
}
