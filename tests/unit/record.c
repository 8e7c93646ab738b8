/* The d of every record of the broker, of broker/record.c, held against AL1's rules.
 * links: broker/record.c broker/record_wish.c broker/hidden.c broker/jobs.c broker/store.c broker/store_care.c broker/store_tables.c broker/bytes.c broker/job.c shared/run.c shared/digest.c shared/json.c shared/json_bytes.c shared/json_find.c shared/json_scan.c shared/json_token.c shared/json_write.c shared/base64.c shared/text.c shared/log.c
 * libs: -lcjson -lsodium -lsqlite3 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "digest.h"
#include "job.h"
#include "limits.h"
#include "record.h"

#define MOST ((1ull << 53) - 1)

static const struct record_who who = { UINT32_MAX - 1, 7, INT32_MAX, "op \"x\" \xe2\x82\xac" };

/* A job with everything as large as it may be. */
static struct job
large_job(size_t argv_bytes)
{
	struct job job = { .seq = 1, .id = bytes_copy("0123456789abcdef", 16), .argv = bytes_copy(NULL, argv_bytes),
		.cwd = (char *)bytes_copy(NULL, LIMIT_PATH - 1).at, .key = (char *)bytes_copy(NULL, LIMIT_KEY_BYTES).at,
		.label = (char *)bytes_copy(NULL, LIMIT_LABEL_BYTES).at,
		.meta = (char *)bytes_copy(NULL, LIMIT_META_BYTES).at, .source = bytes_text("cli"),
		.timeout_seconds = 86400, .max_attempts = 20, .submitter_uid = UINT32_MAX - 1,
		.submitter_gid = UINT32_MAX - 1, .submitter_pid = INT32_MAX, .status = JOB_FAILED,
		.approval = APPROVAL_APPROVED, .approval_expires_us = (int64_t)MOST,
		.error_class = bytes_text("nonzero_exit"), .spec_sha256 = bytes_copy(NULL, 32),
		.approved_sha256 = bytes_copy(NULL, 32) };

	/* Control characters are the longest in JSON. */
	memset(job.argv.at, 1, argv_bytes);
	for (size_t at = 999; at < argv_bytes; at += 1000)
		job.argv.at[at] = '\0';
	job.argv.at[argv_bytes - 1] = '\0';
	memset(job.cwd, 1, LIMIT_PATH - 1);
	memset(job.key, '"', LIMIT_KEY_BYTES);
	memset(job.label, 0x7f, LIMIT_LABEL_BYTES);
	memset(job.meta, 1, LIMIT_META_BYTES);
	return job;
}

static struct attempt
large_attempt(void)
{
	struct attempt attempt = { .number = UINT32_MAX, .started_us = (int64_t)MOST, .outcome = OUTCOME_SIGNALLED,
		.exit_code = 255, .signal = 64, .stage = STAGE_EXEC, .error = 4095, .next_try_us = (int64_t)MOST,
		.out_bytes = (int64_t)MOST, .out_sha256 = bytes_copy(NULL, 32), .err_sha256 = bytes_copy(NULL, 0) };

	return attempt;
}

/* Strict, one line, no blank outside texts, no fraction or exponent, below the bound; frees d. */
static char *
check(struct json *d)
{
	struct json_error error;
	size_t length;
	char *text = json_print(d, &length);
	int in_text = 0;

	json_free(d);
	assert_true(length <= LIMIT_RECORD_BODY);
	assert_true(text[0] == '{');
	if (!json_check(text, length, &error))
		fail_msg("%s: %s", error.text, text);
	for (size_t i = 0; i < length; i++) {
		assert_true((unsigned char)text[i] >= 0x20 && text[i] != 0x7f);
		if (text[i] == '\\')
			i++;
		else if (text[i] == '"')
			in_text = !in_text;
		else if (!in_text)
			assert_null(strchr(" .eE+", text[i] == 'e' && i > 2 && (text[i - 1] == 'u' || text[i - 1] == 's') ?
			    'x' : text[i])); /* true, false */
	}
	return text;
}

static void
every_record_is_strict_and_fits_at_its_largest(void **state)
{
	static char reason[8192];
	struct job job = large_job(LIMIT_ARGV_BYTES);
	struct attempt attempt = large_attempt();
	struct run_name run = { .attempt = UINT32_MAX, .slot = 63 };
	struct json *changes = json_array(), *after = json_array();
	uint8_t digest[32] = { 0 };

	(void)state;
	memset(reason, 2, sizeof(reason) - 1);
	json_add_text(changes, NULL, "policy: its file");
	free(check(record_proposed(&job, true, reason)));
	free(check(record_refused(&who, "sensitive_input", "command", "aws_access_key_id")));
	free(check(record_decision(&job, &who, reason)));
	free(check(record_decision_refused(&job, &who, "approved", "policy_denied", reason)));
	free(check(record_verdict(&job, NULL, false, reason)));
	for (unsigned i = 0; i < 16; i++) /* ORDER_NEEDS_MOST, as large as one can be */
		json_add_text(json_add_object(after, NULL), "job_id", "00000000-0000-0000-0000-000000000000");
	free(check(record_queued(&job, "approved", RECORD_AHEAD_MOST, json_array(), after)));
	free(check(record_expired(&job)));
	free(check(record_stale(&job, changes)));
	free(check(record_dispatch(&job, &run, digest)));
	free(check(record_step(&job, &who)));
	free(check(record_finished(&job, &attempt)));
	free(check(record_lost(&job, &attempt)));
	free(check(record_policy(digest, 2, 1000, 64, &who)));
	free(check(record_policy_refused(reason, &who)));
	json_free(changes);
	attempts_free(&attempt);
	jobs_free(&job);
}

static void
the_largest_command_that_is_recorded_whole_fits_too(void **state)
{
	struct job job = large_job(5000);
	char *text;

	(void)state;
	text = check(record_proposed(&job, false, "no"));
	assert_non_null(strstr(text, "\"command\":[\"\\u0001"));
	free(text);
	jobs_free(&job);
	job = large_job(6000);
	text = check(record_proposed(&job, false, "no"));
	assert_non_null(strstr(text, "\"command\":{\"elements\":6,\"bytes\":6000,\"sha256\":\""));
	free(text);
	jobs_free(&job);
}

/* The auditor parses exactly this. */
static void
a_dispatch_has_four_members_in_this_order(void **state)
{
	struct job job = large_job(10);
	struct run_name run = { .attempt = 3, .slot = 2 };
	uint8_t digest[32] = { 0xab };
	char *text = check(record_dispatch(&job, &run, digest));

	(void)state;
	assert_string_equal(text, "{\"job\":\"30313233-3435-3637-3839-616263646566\",\"attempt\":3,\"slot\":2,"
	    "\"spec_sha256\":\"ab00000000000000000000000000000000000000000000000000000000000000\"}");
	free(text);
	jobs_free(&job);
}

/* attempts.c is not linked: it needs a whole store. */
void
attempts_free(struct attempt *attempt)
{
	bytes_free(&attempt->out_sha256);
	bytes_free(&attempt->err_sha256);
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
		cmocka_unit_test(every_record_is_strict_and_fits_at_its_largest),
		cmocka_unit_test(the_largest_command_that_is_recorded_whole_fits_too),
		cmocka_unit_test(a_dispatch_has_four_members_in_this_order),
	};

	return cmocka_run_group_tests(tests, open_digest, NULL);
}
