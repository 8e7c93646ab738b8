/* Lines on standard error of shared/log.c.
 * links: shared/log.c */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"

static char said[8192];

/* Run speak() in a child that only has a pipe for standard error; its exit status. */
static int
listen_to(void (*speak)(void))
{
	size_t length = 0;
	ssize_t n;
	int ends[2], status;
	pid_t pid;

	assert_return_code(pipe2(ends, O_CLOEXEC), errno);
	pid = fork();
	if (pid == 0) {
		dup2(ends[1], STDERR_FILENO);
		log_open("tester");
		speak();
		_exit(0);
	}
	close(ends[1]);
	while ((n = read(ends[0], said + length, sizeof(said) - 1 - length)) > 0)
		length += (size_t)n;
	said[length] = '\0';
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void
speak_levels(void)
{
	log_info("one %d", 1);
	log_warn("two");
	log_error("three");
}

static void
speak_controls(void)
{
	log_info("a\nb\rc\x1b[2Jd\x7f%c.", 0);
}

static void
speak_long(void)
{
	char *text = malloc(5001);

	memset(text, 'x', 5000);
	text[5000] = '\0';
	log_info("%s", text);
	log_info("next");
	free(text);
}

static void
speak_errno(void)
{
	errno = ENOSPC;
	if (log_errno("store") != -1 || errno != ENOSPC)
		_exit(9);
}

static void
speak_last(void)
{
	fatal("no %s", "more");
}

static void
each_level_has_its_number_and_the_name(void **state)
{
	(void)state;
	assert_int_equal(listen_to(speak_levels), 0);
	assert_string_equal(said, "<6>tester: one 1\n<4>tester: two\n<3>tester: three\n");
}

static void
nobody_can_start_a_line_of_his_own(void **state)
{
	(void)state;
	listen_to(speak_controls);
	assert_string_equal(said, "<6>tester: a?b?c?[2Jd?\n");
}

static void
long_lines_are_cut(void **state)
{
	char *end;

	(void)state;
	listen_to(speak_long);
	end = strchr(said, '\n');
	assert_non_null(end);
	assert_true(end + 1 - said <= 1000);
	assert_string_equal(end + 1, "<6>tester: next\n");
}

static void
errno_is_named_and_kept(void **state)
{
	(void)state;
	assert_int_equal(listen_to(speak_errno), 0);
	assert_string_equal(said, "<3>tester: store: No space left on device\n");
}

static void
fatal_ends_with_status_one(void **state)
{
	(void)state;
	assert_int_equal(listen_to(speak_last), 1);
	assert_string_equal(said, "<2>tester: no more\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_level_has_its_number_and_the_name),
		cmocka_unit_test(nobody_can_start_a_line_of_his_own),
		cmocka_unit_test(long_lines_are_cut),
		cmocka_unit_test(errno_is_named_and_kept),
		cmocka_unit_test(fatal_ends_with_status_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
