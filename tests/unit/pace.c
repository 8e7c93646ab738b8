/* How fast one user may ask, of broker/pace.c.
 * links: broker/pace.c */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "limits.h"
#include "pace.h"

#define SECOND 1000000ull

static struct pace pace;

static unsigned
allowed(uid_t uid, unsigned asked, uint64_t now_us)
{
	unsigned count = 0;

	for (unsigned i = 0; i < asked; i++)
		count += pace_allows(&pace, uid, now_us);
	return count;
}

static int
begin(void **state)
{
	(void)state;
	memset(&pace, 0, sizeof(pace));
	return 0;
}

static void
a_burst_passes_and_then_so_many_a_second(void **state)
{
	(void)state;
	assert_int_equal(allowed(1000, 2 * LIMIT_RATE_BURST, SECOND), LIMIT_RATE_BURST);
	assert_int_equal(allowed(1000, 1000, 2 * SECOND), LIMIT_RATE);
	assert_int_equal(allowed(1000, 1000, 2 * SECOND + SECOND / 10), LIMIT_RATE / 10);
	assert_int_equal(allowed(1000, 1000, 900 * SECOND), LIMIT_RATE_BURST);
}

static void
refusals_cost_nothing_and_small_steps_add_up(void **state)
{
	(void)state;
	allowed(1000, LIMIT_RATE_BURST, SECOND);
	for (unsigned i = 0; i < 1000; i++)
		pace_allows(&pace, 1000, SECOND + i);
	/* asked a thousand times in a millisecond: what came in since the last yes still counts */
	assert_int_equal(allowed(1000, 1000, 2 * SECOND), LIMIT_RATE);
}

static void
others_notice_nothing(void **state)
{
	(void)state;
	allowed(1000, 5000, SECOND);
	assert_int_equal(allowed(1001, 10, SECOND), 10);
}

static void
more_users_than_places_are_all_heard(void **state)
{
	(void)state;
	for (uid_t uid = 1; uid < 10 * PACE_USERS; uid++)
		assert_true(pace_allows(&pace, uid, SECOND + uid));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_burst_passes_and_then_so_many_a_second, begin),
		cmocka_unit_test_setup(refusals_cost_nothing_and_small_steps_add_up, begin),
		cmocka_unit_test_setup(others_notice_nothing, begin),
		cmocka_unit_test_setup(more_users_than_places_are_all_heard, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
