/* The table of cage profiles: names, order, and what each row must never lose.
 * links: shared/profile.c */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "limits.h"
#include "profile.h"

static void
every_profile_has_a_row_that_is_found_by_its_name(void **state)
{
	(void)state;
	for (enum profile i = PROFILE_STRICT; i < PROFILE_COUNT; i++) {
		const struct profile_row *row = profile_row(i);

		assert_non_null(row);
		assert_int_equal(profile_named(row->name), i);
		assert_true(strlen(row->name) < LIMIT_PROFILE);
		assert_true(row->purpose[0]);
		assert_true(row->network <= row->network_most);
		assert_true(row->landlock_floor >= 1);
	}
	assert_null(profile_row(0));
	assert_null(profile_row(PROFILE_COUNT));
	assert_int_equal(profile_named(""), 0);
	assert_int_equal(profile_named("Strict"), 0);
}

static void
a_floor_allows_itself_and_what_is_stronger(void **state)
{
	(void)state;
	for (enum profile floor = PROFILE_STRICT; floor < PROFILE_COUNT; floor++)
		for (enum profile i = 0; i <= PROFILE_COUNT; i++)
			assert_int_equal(profile_within(floor, i), i >= PROFILE_STRICT && i <= floor);
	assert_false(profile_within(0, PROFILE_STRICT));
	assert_false(profile_within(PROFILE_COUNT, PROFILE_STRICT));
}

static void
a_weaker_profile_is_in_nothing_stronger(void **state)
{
	(void)state;
	for (enum profile i = PROFILE_DEFAULT; i < PROFILE_COUNT; i++) {
		const struct profile_row *row = profile_row(i), *stronger = profile_row(i - 1);

		assert_true(row->landlock_floor <= stronger->landlock_floor);
		assert_true(row->calls >= stronger->calls);
		assert_true(row->proc >= stronger->proc);
		assert_true(row->network_most >= stronger->network_most);
		assert_true(row->write_paths >= stronger->write_paths);
	}
}

static void
strict_has_no_network_and_only_debug_reports(void **state)
{
	(void)state;
	assert_int_equal(profile_row(PROFILE_STRICT)->network_most, NETWORK_NONE);
	assert_int_equal(profile_row(PROFILE_STRICT)->proc, PROC_PIDS);
	for (enum profile i = PROFILE_STRICT; i < PROFILE_COUNT; i++)
		assert_int_equal(profile_row(i)->reports, i == PROFILE_DEBUG);
}

static void
networks_are_found_by_their_name(void **state)
{
	(void)state;
	for (enum network i = NETWORK_NONE; i < NETWORK_COUNT; i++)
		assert_int_equal(network_named(network_name(i)), i);
	assert_null(network_name(NETWORK_COUNT));
	assert_int_equal(network_named("host"), NETWORK_COUNT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_profile_has_a_row_that_is_found_by_its_name),
		cmocka_unit_test(a_floor_allows_itself_and_what_is_stronger),
		cmocka_unit_test(a_weaker_profile_is_in_nothing_stronger),
		cmocka_unit_test(strict_has_no_network_and_only_debug_reports),
		cmocka_unit_test(networks_are_found_by_their_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
