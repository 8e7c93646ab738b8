/* The "#!" line as the kernel reads it.
 * links: executor/shebang.c */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "shebang.h"

/* The interpreter in this text, "" when there is none. */
static const char *
interpreter(const char *text)
{
	static char name[SHEBANG_BYTES];
	char head[SHEBANG_BYTES] = { 0 };

	memcpy(head, text, strnlen(text, sizeof(head)));
	return shebang_read(head, name) ? name : "";
}

static void
plain_lines_name_it(void **state)
{
	(void)state;
	assert_string_equal(interpreter("#!/bin/sh\necho"), "/bin/sh");
	assert_string_equal(interpreter("#! \t/bin/sh  \t-eu -x \n"), "/bin/sh");
	assert_string_equal(interpreter("#!/usr/bin/env python3\n"), "/usr/bin/env");
	assert_string_equal(interpreter("#!sh\n"), "sh");
	assert_string_equal(interpreter("#!/bin/sh\r\n"), "/bin/sh\r");
}

static void
a_short_file_needs_no_newline(void **state)
{
	(void)state;
	assert_string_equal(interpreter("#!/bin/sh"), "/bin/sh");
	assert_string_equal(interpreter("#!/bin/sh -e"), "/bin/sh");
}

static void
what_is_no_script_is_none(void **state)
{
	(void)state;
	assert_string_equal(interpreter(""), "");
	assert_string_equal(interpreter("#"), "");
	assert_string_equal(interpreter("#!"), "");
	assert_string_equal(interpreter("#!\n/bin/sh\n"), "");
	assert_string_equal(interpreter("#!  \t \n"), "");
	assert_string_equal(interpreter(" #!/bin/sh\n"), "");
	assert_string_equal(interpreter("\177ELF"), "");
}

static void
a_cut_path_is_none(void **state)
{
	char head[SHEBANG_BYTES], name[SHEBANG_BYTES];

	(void)state;
	memset(head, 'a', sizeof(head));
	memcpy(head, "#!/", 3);
	assert_false(shebang_read(head, name));
	head[SHEBANG_BYTES - 1] = ' '; /* now its end is seen */
	assert_true(shebang_read(head, name));
	assert_int_equal(strlen(name), SHEBANG_BYTES - 3);
	head[100] = '\t'; /* an argument may be cut */
	head[SHEBANG_BYTES - 1] = 'a';
	assert_true(shebang_read(head, name));
	assert_int_equal(strlen(name), 98);
	memset(head + 2, ' ', SHEBANG_BYTES - 2);
	assert_false(shebang_read(head, name));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_lines_name_it),
		cmocka_unit_test(a_short_file_needs_no_newline),
		cmocka_unit_test(what_is_no_script_is_none),
		cmocka_unit_test(a_cut_path_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
