/* The rig's tests where there is no root. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "keeper_rig.h"

static void
all_tests_of_this_file(void **state)
{
	(void)state;
	print_message("# skip: needs root\n");
	skip();
}

int
rig_skip_all(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(all_tests_of_this_file) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
