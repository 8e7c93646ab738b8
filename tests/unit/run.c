/* Names of runs, outcomes, stages and layers of shared/run.c.
 * links: shared/run.c shared/text.c */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "run.h"

static void
a_folder_is_uuid_dot_attempt(void **state)
{
	struct run_name run = { .attempt = 4294967295u, .slot = 3 };
	char text[RUN_FOLDER_BYTES];

	(void)state;
	memset(run.job, 0xab, sizeof(run.job));
	run_folder(&run, text);
	assert_string_equal(text, "abababab-abab-abab-abab-abababababab.4294967295");
}

static const char *
layer_name_of(uint32_t bit)
{
	return layer_name(bit);
}

/* All names of from..below are there, differ, and are words of JSON; so is that of a stranger. */
static void
assert_names(const char *(*name)(uint32_t value), uint32_t from, uint32_t below)
{
	for (uint32_t i = from; i < below; i++) {
		assert_non_null(name(i));
		assert_true(name(i)[0] != '\0');
		assert_int_equal(strspn(name(i), "abcdefghijklmnopqrstuvwxyz_"), strlen(name(i)));
		for (uint32_t j = from; j < i; j++)
			assert_string_not_equal(name(i), name(j));
	}
	assert_non_null(name(below));
	assert_non_null(name(UINT32_MAX));
}

static void
every_value_has_a_name_of_its_own(void **state)
{
	(void)state;
	assert_names(outcome_name, 1, OUTCOME_COUNT);
	assert_names(stage_name, 0, STAGE_COUNT);
	assert_names(layer_name_of, 0, LAYER_COUNT);
}

static void
names_stand_beside_their_values(void **state)
{
	(void)state;
	assert_string_equal(outcome_name(OUTCOME_SUCCEEDED), "succeeded");
	assert_string_equal(outcome_name(OUTCOME_TIMED_OUT), "timed_out");
	assert_string_equal(outcome_name(OUTCOME_LOST), "lost");
	assert_string_equal(stage_name(STAGE_LANDLOCK), "landlock");
	assert_string_equal(stage_name(STAGE_EXEC), "exec");
	assert_string_equal(layer_name(1), "pid_namespace");
	assert_string_equal(layer_name(13), "seccomp");
	assert_string_equal(layer_name(18), "cgroup_cpu");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_folder_is_uuid_dot_attempt),
		cmocka_unit_test(every_value_has_a_name_of_its_own),
		cmocka_unit_test(names_stand_beside_their_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
