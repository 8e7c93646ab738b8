/* The option parser: broker/cli/options.c.
 * links: broker/cli/options.c shared/text.c */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "options.h"

static const enum option some[] = { OPTION_CWD, OPTION_EXECUTE, OPTION_FOLLOW, OPTION_STATUS, OPTION_NONE };

static char *words[64];
static struct options options;
static char why[160];

/* Reads a NULL-ended argv. */
static bool
read_these(enum options_style style, char **argv)
{
	size_t count = 0;

	while (argv[count])
		count++;
	memset(&options, 0, sizeof(options));
	why[0] = '\0';
	options.words = words;
	return options_read(&options, argv, count, some, style, why, sizeof(why));
}

#define READ(style, ...) read_these(style, (char *[]){ __VA_ARGS__, NULL })
#define S(text) ((char *)(uintptr_t)text)

static void
values_stand_behind_or_beside(void **state)
{
	(void)state;
	assert_true(READ(OPTIONS_MIXED, S("--cwd"), S("/a"), S("-ojson"), S("--execute")));
	assert_string_equal(options.value[OPTION_CWD], "/a");
	assert_string_equal(options.value[OPTION_OUTPUT], "json");
	assert_non_null(options.value[OPTION_EXECUTE]);
	assert_true(READ(OPTIONS_MIXED, S("--cwd=/a=b"), S("-o"), S("wide"), S("-f")));
	assert_string_equal(options.value[OPTION_CWD], "/a=b");
	assert_string_equal(options.value[OPTION_OUTPUT], "wide");
	assert_true(READ(OPTIONS_MIXED, S("--cwd=")));
	assert_string_equal(options.value[OPTION_CWD], "");
}

static void
nothing_is_abbreviated(void **state)
{
	(void)state;
	assert_false(READ(OPTIONS_MIXED, S("--exec")));
	assert_false(READ(OPTIONS_MIXED, S("--e")));
	assert_false(READ(OPTIONS_MIXED, S("--executed")));
	assert_false(READ(OPTIONS_MIXED, S("--cw=/a")));
	assert_false(READ(OPTIONS_MIXED, S("-fo"), S("json"))); /* no clusters either */
}

static void
what_is_wrong_is_said(void **state)
{
	(void)state;
	assert_false(READ(OPTIONS_MIXED, S("--nope=secret")));
	assert_string_equal(why, "unknown option --nope");
	assert_false(READ(OPTIONS_MIXED, S("--cwd")));
	assert_string_equal(why, "--cwd needs DIR");
	assert_false(READ(OPTIONS_MIXED, S("--execute=yes")));
	assert_string_equal(why, "--execute takes no value");
	assert_false(READ(OPTIONS_MIXED, S("--cwd"), S("a"), S("--cwd"), S("b")));
	assert_string_equal(why, "--cwd: given twice");
	assert_false(READ(OPTIONS_MIXED, S("--by"), S("x"))); /* of another command */
}

static void
some_may_be_repeated(void **state)
{
	(void)state;
	assert_true(READ(OPTIONS_MIXED, S("--status"), S("failed"), S("--status=queued")));
	assert_int_equal(options.many_count, 2);
	assert_string_equal(options.many[0].value, "failed");
	assert_string_equal(options.many[1].value, "queued");
}

static void
options_may_follow_words(void **state)
{
	(void)state;
	assert_true(READ(OPTIONS_MIXED, S("ID"), S("--execute"), S("-")));
	assert_non_null(options.value[OPTION_EXECUTE]);
	assert_int_equal(options.word_count, 2);
	assert_string_equal(options.words[1], "-");
}

static void
only_the_first_dashes_end_options(void **state)
{
	(void)state;
	assert_true(READ(OPTIONS_PREFIX, S("--cwd"), S("W"), S("--"), S("git"), S("checkout"), S("--"), S("deploy")));
	assert_int_equal(options.word_count, 4);
	assert_string_equal(options.words[2], "--");
	assert_true(READ(OPTIONS_PREFIX, S("--"), S("--"), S("x")));
	assert_int_equal(options.word_count, 2);
	assert_string_equal(options.words[0], "--");
	assert_true(READ(OPTIONS_PREFIX, S("--"), S("tool"), S("--help"), S("--cwd"), S("/x")));
	assert_int_equal(options.word_count, 4);
	assert_null(options.value[OPTION_CWD]);
	assert_null(options.value[OPTION_HELP]);
}

static void
a_commands_own_options_are_not_eaten(void **state)
{
	(void)state;
	assert_true(READ(OPTIONS_PREFIX, S("git"), S("log"), S("--execute"), S("--"), S("-x")));
	assert_int_equal(options.word_count, 5);
	assert_null(options.value[OPTION_EXECUTE]);
}

static void
an_options_value_may_look_like_one(void **state)
{
	(void)state;
	assert_true(READ(OPTIONS_MIXED, S("--cwd"), S("-rf")));
	assert_string_equal(options.value[OPTION_CWD], "-rf");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_stand_behind_or_beside),
		cmocka_unit_test(nothing_is_abbreviated),
		cmocka_unit_test(what_is_wrong_is_said),
		cmocka_unit_test(some_may_be_repeated),
		cmocka_unit_test(options_may_follow_words),
		cmocka_unit_test(only_the_first_dashes_end_options),
		cmocka_unit_test(a_commands_own_options_are_not_eaten),
		cmocka_unit_test(an_options_value_may_look_like_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
