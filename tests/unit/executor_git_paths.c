/* links: executor/git_paths.c shared/text.c */
/* Files that a repository's configuration names, in whatever way git lets it be written. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "git_paths.h"

static char told[512];

static int
tell(void *context, bool hooks, const char *value)
{
	size_t length = strlen(told);

	(void)context;
	snprintf(told + length, sizeof(told) - length, "%s<%s>", hooks ? "hooks" : "include", value);
	return strcmp(value, "stop") == 0 ? 7 : 0;
}

static void
tells(const char *text, const char *expected)
{
	told[0] = '\0';
	assert_int_equal(git_paths(text, strlen(text), tell, NULL), 0);
	if (strcmp(told, expected) != 0)
		fail_msg("%s\nsays %s, not %s", text, told, expected);
}

/* Each line was compared with `git config -f FILE --list` of git 2.39. */
static void
all_ways_to_write_it_are_read(void **state)
{
	(void)state;
	tells("[core]\n\thooksPath = .githooks\n", "hooks<.githooks>");
	tells("[CORE]\nHOOKSPATH=a", "hooks<a>");
	tells("[core] hooksPath = a", "hooks<a>");
	tells("[core]\r\nhooksPath = a\r\n", "hooks<a>");
	tells("[core]\n\thooksPath = \" a b \" # c\n", "hooks< a b >");
	tells("[core]\n\thooksPath = a b  ; c\n", "hooks<a b>");
	tells("[core]\n\thooksPath = a\\\nb\n", "hooks<ab>");
	tells("[core]\n\thooksPath = a\"#;\"b\n", "hooks<a#;b>");
	tells("[core]\n\thooksPath = \"a\\\"b\\\\\\tc\"\n", "hooks<a\"b\\\tc>");
	tells("[core]\n\thooksPath\t=\ta\n[include]\n\tpath = b\n[includeIf \"gitdir:]x\"]\n\tpath = c\n",
	    "hooks<a>include<b>include<c>");
	tells("[core]\n\thooksPath = a\n\thooksPath = b\n", "hooks<a>hooks<b>");
	tells("# [core]\n[core] # x\n; y\nhooksPath = a\n", "hooks<a>");
	tells("[core]\n\thooksPath\n", "hooks<>");
}

static void
nothing_else_is_told(void **state)
{
	(void)state;
	tells("", "");
	tells("[core]\n\teditor = [core]\n\tpager = \"\n\thooksPath2 = a\n", "");
	tells("[core]\n\teditor = a\\\n\thooksPath = b\n", "");
	tells("[corex]\nhooksPath = a\n[cor]\nhooksPath = a\n[include \"x\"\nhooksPath = a\n", "");
	tells("hooksPath = a\n[path]\npath = b\n", "");
	tells("[core", "");
	tells("[core]\nhooksPathhooksPathhooksPathhooksPath = a\n", "");
}

static void
an_error_of_the_text_hides_nothing_behind_it(void **state)
{
	(void)state;
	tells("[core\n]\n[core]\nhooksPath = a", "hooks<a>");
	tells("[core]\n!x\nhooksPath = a", "hooks<a>");
	tells("[core]\neditor = \"\nhooksPath = a", "hooks<a>");
	tells("[core]\nkey ! = x\nhooksPath = a", "hooks<a>");
}

static void
who_is_told_may_stop_it(void **state)
{
	static const char text[] = "[core]\nhooksPath = stop\nhooksPath = a\n";
	static char large[2 * LIMIT_PATH + 20] = "[core]\nhooksPath = ";

	(void)state;
	told[0] = '\0';
	assert_int_equal(git_paths(text, strlen(text), tell, NULL), 7);
	assert_string_equal(told, "hooks<stop>");
	memset(large + strlen(large), 'x', 2 * LIMIT_PATH);
	assert_int_equal(git_paths(large, strlen(large), tell, NULL), -1);
	assert_int_equal(errno, ENAMETOOLONG);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_ways_to_write_it_are_read),
		cmocka_unit_test(nothing_else_is_told),
		cmocka_unit_test(an_error_of_the_text_hides_nothing_behind_it),
		cmocka_unit_test(who_is_told_may_stop_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
