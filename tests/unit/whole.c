/* links: shared/whole.c */
/* Reading and writing the whole, with read(2) and write(2) that answer what a test has said. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <sys/syscall.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "whole.h"

#define FD 77 /* nobody's */

/* What the next calls answer: bytes, or -errno. */
static const int *script;
static char disk[64];
static size_t at;

static ssize_t
answer(size_t most)
{
	int next = *script++;

	if (next >= 0)
		return next < (int)most ? next : (ssize_t)most;
	errno = -next;
	return -1;
}

ssize_t
read(int fd, void *bytes, size_t size)
{
	ssize_t length = answer(size);

	assert_int_equal(fd, FD);
	if (length > 0)
		memcpy(bytes, disk + at, (size_t)length);
	at += length > 0 ? (size_t)length : 0;
	return length;
}

ssize_t
write(int fd, const void *bytes, size_t size)
{
	ssize_t length;

	if (fd != FD) /* a word about a failure */
		return syscall(SYS_write, fd, bytes, size);
	length = answer(size);
	if (length > 0)
		memcpy(disk + at, bytes, (size_t)length);
	at += length > 0 ? (size_t)length : 0;
	return length;
}

static void
begin(const int *answers, const char *content)
{
	script = answers;
	at = 0;
	memset(disk, 0, sizeof(disk));
	memcpy(disk, content, strlen(content));
}

static void
a_short_write_goes_on(void **state)
{
	(void)state;
	begin((const int[]){ 2, -EINTR, 3, 99 }, "");
	assert_int_equal(whole_write(FD, "0123456789", 10), 0);
	assert_string_equal(disk, "0123456789");
}

static void
a_write_that_fails_is_told(void **state)
{
	(void)state;
	begin((const int[]){ 4, -ENOSPC }, "");
	assert_int_equal(whole_write(FD, "0123456789", 10), -1);
	assert_int_equal(errno, ENOSPC);
	begin((const int[]){ 0 }, "");
	assert_int_equal(whole_write(FD, "0123456789", 10), -1);
	assert_int_equal(errno, EIO);
}

static void
a_read_ends_at_the_end_or_when_it_is_full(void **state)
{
	char bytes[8] = { 0 };

	(void)state;
	begin((const int[]){ 1, -EINTR, 3, 0 }, "abcd");
	assert_int_equal(whole_read(FD, bytes, sizeof(bytes)), 4);
	assert_memory_equal(bytes, "abcd", 4);
	begin((const int[]){ 5, 99 }, "abcdefghij");
	assert_int_equal(whole_read(FD, bytes, sizeof(bytes)), 8);
	assert_memory_equal(bytes, "abcdefgh", 8);
}

static void
a_read_that_fails_is_told(void **state)
{
	char bytes[8];

	(void)state;
	begin((const int[]){ 2, -EIO }, "abcd");
	assert_int_equal(whole_read(FD, bytes, sizeof(bytes)), -1);
	assert_int_equal(errno, EIO);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_short_write_goes_on),
		cmocka_unit_test(a_write_that_fails_is_told),
		cmocka_unit_test(a_read_ends_at_the_end_or_when_it_is_full),
		cmocka_unit_test(a_read_that_fails_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
