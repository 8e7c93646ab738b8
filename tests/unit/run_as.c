/* Whose ids a job may have.
 * links: shared/run_as.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "run.h"
#include "run_as.h"

static void
root_our_own_and_everybody_outside_are_refused(void **state)
{
	static const uint32_t never[] = { 0, RUN_AS_OVERFLOW, RUN_AS_FIRST_RESERVED, RUN_AS_FIRST_RESERVED + 300,
		RUN_AS_LAST_RESERVED, UINT32_MAX };

	(void)state;
	for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++) {
		assert_non_null(run_as_fault(never[i], 1000));
		assert_non_null(run_as_fault(1000, never[i]));
	}
	assert_null(run_as_fault(1, 1));
	assert_null(run_as_fault(1000, 100));
	assert_null(run_as_fault(RUN_AS_FIRST_RESERVED - 1, RUN_AS_LAST_RESERVED + 1));
}

static void
only_where_root_has_started_the_three(void **state)
{
	static struct boot boot;
	struct boot_root root = { .flags = ROOT_RUN_AS_OWNER }, other = { .flags = 0 };

	(void)state;
	boot.mode = MODE_SYSTEM;
	assert_true(run_as_owner(&boot, &root));
	assert_false(run_as_owner(&boot, &other));
	assert_false(run_as_owner(&boot, NULL));
	boot.mode = MODE_WORKSPACE_ROOT;
	assert_true(run_as_owner(&boot, &root));
	boot.mode = MODE_WORKSPACE_USER;
	assert_false(run_as_owner(&boot, &root));
}

static void
its_jobs_have_no_uid_of_their_own_and_no_other_mount(void **state)
{
	static struct boot boot = { .mode = MODE_SYSTEM };
	struct boot_root root = { .flags = ROOT_RUN_AS_OWNER }, other = { .flags = 0 };
	uint64_t all = LAYER_OWN_UID | LAYER_IDMAP | LAYER_NO_GROUPS | LAYER_LANDLOCK;

	(void)state;
	assert_int_equal(run_as_layers(&boot, &root, all), LAYER_NO_GROUPS | LAYER_LANDLOCK);
	assert_int_equal(run_as_layers(&boot, &other, all), all);
	assert_int_equal(run_as_layers(&boot, NULL, all), all);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(root_our_own_and_everybody_outside_are_refused),
		cmocka_unit_test(only_where_root_has_started_the_three),
		cmocka_unit_test(its_jobs_have_no_uid_of_their_own_and_no_other_mount),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
