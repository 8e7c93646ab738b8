/* Which filesystems jobs may see as they are, of mountinfo.
 * links: broker/launch/mounted.c shared/text.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "mounted.h"

static char type[LIMIT_PATH];

/* Of the root /srv/ws on mount 30. */
static const char *
odd(const char *mountinfo)
{
	FILE *file = fmemopen((void *)(uintptr_t)mountinfo, strlen(mountinfo), "r");
	const char *found = mounted_find_odd(file, 30, "/srv/ws", type);

	fclose(file);
	return found;
}

#define ROOT "30 1 0:40 / /srv rw,relatime shared:1 - overlay overlay rw,lowerdir=/a:/b\n"
#define ELSEWHERE "31 1 0:41 / /proc rw - proc proc rw\n32 1 0:41 / /srv/wsx rw - sysfs sysfs rw\n"

static void
files_of_people_may_be_seen(void **state)
{
	(void)state;
	assert_null(odd(ROOT));
	assert_null(odd(ELSEWHERE ROOT ELSEWHERE));
	assert_null(odd(ROOT "33 30 8:1 / /srv/ws/a rw shared:2 master:3 - ext4 /dev/sda1 rw\n"));
	assert_null(odd(ROOT "33 30 0:7 / /srv/ws/a rw - fuse.sshfs host: rw\n"));
}

static void
windows_into_the_kernel_may_not(void **state)
{
	(void)state;
	assert_string_equal(odd(ROOT "33 30 0:4 / /srv/ws/p rw - proc proc rw\n"), "proc");
	assert_string_equal(odd(ROOT "33 30 0:4 / /srv/ws rw - cgroup2 none rw\n"), "cgroup2");
	assert_string_equal(odd(ROOT "33 30 0:4 / /srv/ws/a\\040b rw - sysfs none rw\n"), "sysfs");
	assert_string_equal(odd("30 1 0:40 / /srv rw - devtmpfs none rw\n"), "devtmpfs");
	assert_string_equal(odd(ROOT "33 30 0:4 / /srv/ws/p rw - fusectl none rw\n"), "fusectl");
	assert_string_equal(odd(ROOT "33 30 0:4 / /srv/ws/p rw - nobody-knows none rw\n"), "nobody-knows");
}

static void
what_does_not_tell_is_refused(void **state)
{
	(void)state;
	assert_string_equal(odd(ELSEWHERE), "unknown");
	assert_string_equal(odd("\n"), "unknown");
	assert_string_equal(odd(ROOT "33 30 0:4 /srv/ws/p proc\n"), "unknown");
	assert_string_equal(odd(ROOT "33 30 - proc proc rw\n"), "unknown");
	assert_string_equal(odd(ROOT "x 30 0:4 / /srv/ws/p rw - ext4 none rw\n"), "unknown");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_of_people_may_be_seen),
		cmocka_unit_test(windows_into_the_kernel_may_not),
		cmocka_unit_test(what_does_not_tell_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
