/* States and steps of broker/job.c: every step from every state.
 * links: broker/job.c */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "job.h"

/* From where each step may be taken, said a second time and by hand: status letters, approval letters. */
static const struct {
	enum job_step step;
	const char *statuses, *approvals; /* q r w s f c d l; p a d e l */
	int64_t status, approval;         /* afterwards; 0: as it was */
} expected[] = {
	{ STEP_APPROVE, "qw", "pe", 0, APPROVAL_APPROVED },
	{ STEP_DENY, "qw", "pe", JOB_CANCELLED, APPROVAL_DENIED },
	{ STEP_EXPIRE, "q", "a", 0, APPROVAL_EXPIRED },
	{ STEP_STALE, "qw", "a", JOB_QUEUED, APPROVAL_PENDING },
	{ STEP_DISPATCH, "qw", "a", JOB_RUNNING, 0 },
	{ STEP_SUCCEED, "r", "padel", JOB_SUCCEEDED, 0 },
	{ STEP_FAIL, "r", "padel", JOB_FAILED, 0 },
	{ STEP_AWAIT_RETRY, "r", "a", JOB_RETRY_WAIT, 0 },
	{ STEP_RETURN, "r", "a", JOB_QUEUED, 0 },
	{ STEP_LOSE, "r", "padel", JOB_LOST, 0 },
	{ STEP_END_CANCELLED, "r", "padel", JOB_CANCELLED, 0 },
	{ STEP_CANCEL, "qw", "padel", JOB_CANCELLED, 0 },
	{ STEP_ABANDON, "qw", "padel", JOB_DEAD_LETTER, 0 },
	{ STEP_BURY, "qw", "a", JOB_DEAD_LETTER, 0 },
	{ STEP_RETRY, "fcdl", "padel", JOB_QUEUED, APPROVAL_PENDING },
};

static int
has(const char *letters, char letter)
{
	for (; *letters; letters++)
		if (*letters == letter)
			return 1;
	return 0;
}

static void
steps_are_legal_only_from_their_states(void **state)
{
	static const char statuses[] = " qrwsfcdl", approvals[] = " padel";

	(void)state;
	assert_int_equal(sizeof(expected) / sizeof(expected[0]), STEP_COUNT);
	for (size_t i = 0; i < STEP_COUNT; i++)
		for (int64_t s = -1; s <= JOB_STATUS_COUNT; s++)
			for (int64_t a = -1; a <= APPROVAL_COUNT; a++) {
				int legal = s > 0 && s < JOB_STATUS_COUNT && a > 0 && a < APPROVAL_COUNT &&
				    has(expected[i].statuses, statuses[s]) &&
				    has(expected[i].approvals, approvals[a]);
				int64_t status = s, approval = a;

				assert_int_equal(job_may(expected[i].step, s, a), legal);
				assert_int_equal(job_take(expected[i].step, &status, &approval), legal);
				assert_int_equal(status, legal && expected[i].status ? expected[i].status : s);
				assert_int_equal(approval,
				    legal && expected[i].approval ? expected[i].approval : a);
			}
}

static void
names_survive_the_round(void **state)
{
	(void)state;
	for (int64_t s = 1; s < JOB_STATUS_COUNT; s++)
		assert_int_equal(job_status_of(job_status_name(s)), s);
	for (int64_t a = 1; a < APPROVAL_COUNT; a++)
		assert_int_equal(job_approval_of(job_approval_name(a)), a);
	assert_int_equal(job_status_of("Queued"), 0);
	assert_int_equal(job_status_of(""), 0);
	assert_string_equal(job_status_name(0), "unknown");
	assert_string_equal(job_status_name(99), "unknown");
}

static void
a_clock_that_was_set_back_holds_up_only_a_delay_that_was_asked_for(void **state)
{
	const int64_t hour = 3600ll * 1000000, made = 1000 * hour, now = made - hour;

	(void)state;
	assert_true(job_is_due(JOB_QUEUED, made, made, now));          /* no delay */
	assert_false(job_is_due(JOB_QUEUED, made, made + 1, now));     /* one that was asked for */
	assert_true(job_is_due(JOB_QUEUED, made, made + 1, made + 1));
	assert_true(job_is_due(JOB_QUEUED, made, made - 1, made));     /* in the past from the begin */
	/* A retry waits five minutes at most: more is the clock. */
	assert_false(job_is_due(JOB_RETRY_WAIT, made, made + 2, made + 1));
	assert_false(job_is_due(JOB_RETRY_WAIT, made, made + 300000000, made));
	assert_true(job_is_due(JOB_RETRY_WAIT, made, made + 300000001, made));
	assert_true(job_is_due(JOB_RETRY_WAIT, made, made + 2, now));
}

static void
finished_waiting_and_running_are_all_there_is(void **state)
{
	(void)state;
	for (int64_t s = 1; s < JOB_STATUS_COUNT; s++)
		assert_int_equal(job_is_waiting(s) + job_is_finished(s) + (s == JOB_RUNNING), 1);
}

static void
backoff_doubles_up_to_five_minutes_and_never_beyond(void **state)
{
	(void)state;
	assert_int_equal(job_backoff_us(1, 0), 2000000);
	assert_int_equal(job_backoff_us(2, 0), 4000000);
	assert_int_equal(job_backoff_us(3, 0), 8000000);
	assert_int_equal(job_backoff_us(9, 0), 300000000);
	assert_int_equal(job_backoff_us(20, 0), 300000000);
	assert_int_equal(job_backoff_us(1, UINT32_MAX), 1800000);
	assert_true(job_backoff_us(20, UINT32_MAX / 2) < 300000000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_are_legal_only_from_their_states),
		cmocka_unit_test(a_clock_that_was_set_back_holds_up_only_a_delay_that_was_asked_for),
		cmocka_unit_test(names_survive_the_round),
		cmocka_unit_test(finished_waiting_and_running_are_all_there_is),
		cmocka_unit_test(backoff_doubles_up_to_five_minutes_and_never_beyond),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
