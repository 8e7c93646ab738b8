/* The result file, and the numbers of a cgroup's files.
 * links: executor/keeper/result.c executor/keeper/cgroup.c shared/log.c shared/text.c */
#include <sys/mman.h>
#include <sys/stat.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cgroup.h"
#include "keep.h"
#include "result.h"

static char folder[] = "/tmp/keeper-result-XXXXXX";
static int folder_fd;

static int
make_folder(void **state)
{
	(void)state;
	umask(027);
	if (!mkdtemp(folder))
		return -1;
	folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return folder_fd < 0;
}

static int
remove_folder(void **state)
{
	(void)state;
	unlinkat(folder_fd, KEEP_RESULT, 0);
	unlinkat(folder_fd, "result.new", 0);
	close(folder_fd);
	return rmdir(folder);
}

static void
a_result_appears_whole_and_under_its_name_only(void **state)
{
	struct run_result result = { .magic = RUN_RESULT_MAGIC, .run = { .attempt = 3 } }, back;
	int fd = result_reserve(folder_fd), read_fd;
	struct stat st;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(faccessat(folder_fd, KEEP_RESULT, F_OK, 0), -1);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	assert_int_equal(st.st_size, sizeof(result)); /* the room is taken before the job runs */

	assert_true(result_store(fd, folder_fd, &result));
	assert_int_equal(faccessat(folder_fd, "result.new", F_OK, 0), -1);
	read_fd = openat(folder_fd, KEEP_RESULT, O_RDONLY);
	assert_int_equal(read(read_fd, &back, sizeof(back)), sizeof(back));
	assert_int_equal(read(read_fd, &back, 1), 0);
	assert_memory_equal(&back, &result, sizeof(back));
	assert_true(result_sync(fd, folder_fd));
	close(read_fd);
	close(fd);
	unlinkat(folder_fd, KEEP_RESULT, 0);
}

static void
a_name_that_is_taken_is_refused(void **state)
{
	(void)state;
	assert_int_equal(symlinkat("elsewhere", folder_fd, "result.new"), 0);
	assert_int_equal(result_reserve(folder_fd), -1);
	assert_int_equal(errno, EEXIST);
	unlinkat(folder_fd, "result.new", 0);
}

static void
a_result_that_cannot_be_written_has_no_name(void **state)
{
	const struct run_result result = { .magic = RUN_RESULT_MAGIC };
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	(void)state;
	assert_false(result_store(full, folder_fd, &result));
	assert_int_equal(faccessat(folder_fd, KEEP_RESULT, F_OK, 0), -1);
	assert_false(result_sync(full, folder_fd)); /* nor can it be brought onto a disk */
	close(full);
}

static void
numbers_are_found_by_their_whole_key(void **state)
{
	const char text[] = "low 1\noom 2\noom_kill 3\noom_group_kill 4\n";
	uint64_t value = 0;

	(void)state;
	assert_true(cgroup_find(text, "oom", &value) && value == 2);
	assert_true(cgroup_find(text, "oom_kill", &value) && value == 3);
	assert_true(cgroup_find(text, "low", &value) && value == 1);
	assert_false(cgroup_find(text, "oom_k", &value));
	assert_false(cgroup_find(text, "kill", &value));
	assert_false(cgroup_find("", "oom", &value));
	assert_false(cgroup_find("oom x\n", "oom", &value));
	assert_false(cgroup_find("oom -1\n", "oom", &value));
	assert_true(cgroup_find("populated 0\nfrozen 0", "frozen", &value) && value == 0);
}

static void
files_are_read_from_their_start_each_time(void **state)
{
	int fd = memfd_create("events", MFD_CLOEXEC);
	uint64_t value = 9;

	(void)state;
	assert_int_equal(write(fd, "populated 1\n", 12), 12);
	assert_true(cgroup_read(fd, "populated", &value) && value == 1);
	assert_int_equal(pwrite(fd, "populated 0\n", 12, 0), 12);
	assert_true(cgroup_read(fd, "populated", &value) && value == 0);
	assert_false(cgroup_read(fd, NULL, &value));
	close(fd);
	fd = memfd_create("peak", MFD_CLOEXEC);
	assert_int_equal(write(fd, "4096\n", 5), 5);
	assert_true(cgroup_read(fd, NULL, &value) && value == 4096);
	close(fd);
}

static void
dev_null_stands_for_no_cgroup(void **state)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), file = memfd_create("kill", MFD_CLOEXEC);

	(void)state;
	assert_false(cgroup_has(null));
	assert_true(cgroup_has(file));
	assert_false(cgroup_has(-1));
	cgroup_kill(file);
	assert_int_equal(lseek(file, 0, SEEK_CUR), 1);
	close(null);
	close(file);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_result_appears_whole_and_under_its_name_only),
		cmocka_unit_test(a_name_that_is_taken_is_refused),
		cmocka_unit_test(a_result_that_cannot_be_written_has_no_name),
		cmocka_unit_test(numbers_are_found_by_their_whole_key),
		cmocka_unit_test(files_are_read_from_their_start_each_time),
		cmocka_unit_test(dev_null_stands_for_no_cgroup),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
