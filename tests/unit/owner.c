/* Whose a program is, by shared/owner.c.
 * links: shared/owner.c shared/text.c */
#include <sys/stat.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "owner.h"

static void
what_only_root_can_change_is_roots(void **state)
{
	(void)state;
	assert_true(owner_is_root("/usr/bin/env"));
	assert_false(owner_is_root("/usr/bin/no such program"));
	assert_false(owner_is_root("usr/bin/env"));
	assert_false(owner_is_root("/usr/bin/../bin/env"));
}

static void
a_link_on_the_way_is_not(void **state)
{
	struct stat stat;

	(void)state;
	if (lstat("/bin", &stat) < 0 || !S_ISLNK(stat.st_mode))
		skip();
	assert_false(owner_is_root("/bin/env"));
}

/* /tmp is writable by everybody, so nothing below it is root's alone. */
static void
a_directory_others_can_write_is_not(void **state)
{
	char path[] = "/tmp/owner-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(fchmod(fd, 0555), 0);
	assert_false(owner_is_root(path));
	unlink(path);
	close(fd);
}

/* The folder above is root's alone, the file belongs to somebody or is open to a group. */
static void
another_owner_or_group_write_is_not(void **state)
{
	char folder[] = "/var/lib/owner-XXXXXX";

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_non_null(mkdtemp(folder));
	assert_true(owner_is_root(folder));
	assert_int_equal(chmod(folder, 0775), 0);
	assert_false(owner_is_root(folder));
	assert_int_equal(chmod(folder, 0755), 0);
	assert_int_equal(chown(folder, 12345, 0), 0);
	assert_false(owner_is_root(folder));
	rmdir(folder);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_only_root_can_change_is_roots),
		cmocka_unit_test(a_link_on_the_way_is_not),
		cmocka_unit_test(a_directory_others_can_write_is_not),
		cmocka_unit_test(another_owner_or_group_write_is_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
