/* The limits of a run's cgroup: what is written where, in which order, and what becomes of it when the kernel says no.
 * The kernel is a folder here: its files are made with the group, as cgroup2 does, and keep what is written with a newline.
 * links: executor/cgroup.c shared/text.c
 * libs: -Wl,--wrap=mkdirat,--wrap=openat,--wrap=write */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cgroup.h"

#define FILES 7
#define FDS 64

int __real_mkdirat(int folder, const char *name, mode_t mode);
int __real_openat(int folder, const char *name, int flags, ...);
ssize_t __real_write(int fd, const void *bytes, size_t length);
int __wrap_mkdirat(int folder, const char *name, mode_t mode);
int __wrap_openat(int folder, const char *name, int flags, ...);
ssize_t __wrap_write(int fd, const void *bytes, size_t length);

static const char *const everything[FILES + 1] = { "memory.max", "memory.swap.max", "memory.oom.group",
	"pids.max", "cpu.max", "cgroup.kill", "cgroup.events", NULL };

/* The kernel of one test. */
static struct {
	const char *const *files; /* that a new group has */
	const char *refuses;      /* writing this file fails with EBUSY */
	const char *keeps_other;  /* writing this file is answered, and another value is kept */
	const char *shortens;     /* writing this file takes one byte less */
	char writes[512];         /* "memory.max=4096 ..." in their order */
} host;
static const char *opened[FDS]; /* names of what is open for writing */
static char top[] = "/tmp/agent-safe-cgroup.XXXXXX";
static int jobs;

int
__wrap_mkdirat(int folder, const char *name, mode_t mode)
{
	int group, status = __real_mkdirat(folder, name, mode);

	if (status < 0)
		return status;
	group = __real_openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (const char *const *file = host.files; *file; file++)
		close(__real_openat(group, *file, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
	return close(group);
}

int
__wrap_openat(int folder, const char *name, int flags, ...)
{
	int fd = __real_openat(folder, name, flags); /* nothing here makes files */

	for (size_t i = 0; fd >= 0 && fd < FDS && i < FILES; i++)
		if ((flags & O_WRONLY) && strcmp(name, everything[i]) == 0)
			opened[fd] = everything[i];
	return fd;
}

static bool
is(const char *name, int fd)
{
	return name && fd >= 0 && fd < FDS && opened[fd] && strcmp(name, opened[fd]) == 0;
}

ssize_t
__wrap_write(int fd, const void *bytes, size_t length)
{
	size_t used = strlen(host.writes);

	if (fd < 0 || fd >= FDS || !opened[fd])
		return __real_write(fd, bytes, length);
	snprintf(host.writes + used, sizeof(host.writes) - used, "%s%s=%.*s", used ? " " : "", opened[fd],
	    (int)length, (const char *)bytes);
	if (is(host.refuses, fd)) {
		errno = EBUSY;
		return -1;
	}
	if (is(host.shortens, fd))
		return (ssize_t)length - 1;
	if (is(host.keeps_other, fd))
		return __real_write(fd, "max\n", 4) == 4 ? (ssize_t)length : -1;
	if (__real_write(fd, bytes, length) != (ssize_t)length || __real_write(fd, "\n", 1) != 1)
		return -1;
	return (ssize_t)length;
}

static void
empty(int group)
{
	for (size_t i = 0; i < FILES; i++)
		unlinkat(group, everything[i], 0);
}

/* Makes the group of a run under this kernel; *layers as cgroup_make() left them.  0, or the errno. */
static int
make(const struct plan *plan, uint64_t *layers)
{
	int group, error, folder;

	*layers = LAYER_SECCOMP;
	errno = 0;
	group = cgroup_make(jobs, "run.1", plan, layers);
	error = group < 0 ? errno : 0;
	folder = __real_openat(jobs, "run.1", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(folder >= 0); /* after a failure too: cgroup_remove() is the caller's */
	empty(folder);
	close(folder);
	if (group >= 0)
		close(group);
	assert_true(cgroup_remove(jobs, "run.1"));
	return error;
}

static struct plan *
plan_of(uint64_t memory_bytes, uint64_t processes, uint64_t cpu_percent)
{
	static struct plan plan;

	plan.memory_bytes = memory_bytes;
	plan.processes = processes;
	plan.cpu_percent = cpu_percent;
	return &plan;
}

static int
fresh_kernel(void **state)
{
	(void)state;
	memset(&host, 0, sizeof(host));
	memset(opened, 0, sizeof(opened));
	host.files = everything;
	return 0;
}

#define ALL "memory.max=67108864 memory.swap.max=0 memory.oom.group=1 pids.max=64 cpu.max=150000 100000"

static void
every_limit_is_written_once_and_each_controller_is_a_layer(void **state)
{
	uint64_t layers;

	(void)state;
	assert_int_equal(make(plan_of(64u << 20, 64, 150), &layers), 0);
	assert_string_equal(host.writes, ALL);
	assert_int_equal(layers, LAYER_SECCOMP | CGROUP_LAYERS);
}

static void
memory_is_whole_pages_rounded_down(void **state)
{
	const unsigned long long page = (unsigned long long)sysconf(_SC_PAGESIZE);
	char expected[64];
	uint64_t layers;

	(void)state;
	assert_int_equal(make(plan_of(5 * page + 17, 64, 0), &layers), 0);
	snprintf(expected, sizeof(expected), "memory.max=%llu ", 5 * page);
	assert_memory_equal(host.writes, expected, strlen(expected));
}

static void
the_largest_values_of_a_policy_are_written_whole(void **state)
{
	uint64_t layers;

	(void)state;
	assert_int_equal(make(plan_of(1ull << 50, 1u << 20, 102400), &layers), 0);
	assert_string_equal(host.writes, "memory.max=1125899906842624 memory.swap.max=0 memory.oom.group=1 "
	    "pids.max=1048576 cpu.max=102400000 100000");
}

static void
no_limit_writes_nothing_and_is_no_layer(void **state)
{
	uint64_t layers;

	(void)state;
	assert_int_equal(make(plan_of(0, 64, 0), &layers), 0);
	assert_string_equal(host.writes, "pids.max=64");
	assert_int_equal(layers, LAYER_SECCOMP | LAYER_CGROUP | LAYER_CGROUP_PIDS);
}

static void
a_controller_that_is_not_here_is_no_layer_and_no_failure(void **state)
{
	static const char *const none[] = { "cgroup.kill", "cgroup.events", NULL };
	static const char *const cpu[] = { "cpu.max", NULL };
	static const char *const pids[] = { "pids.max", NULL };
	static const char *const no_swap[] = { "memory.max", "memory.oom.group", NULL };
	const struct { const char *const *files; const char *writes; uint64_t layers; } rows[] = {
		{ none, "", 0 },
		{ cpu, "cpu.max=150000 100000", LAYER_CGROUP_CPU },
		{ pids, "pids.max=64", LAYER_CGROUP_PIDS },
		{ no_swap, "memory.max=67108864 memory.oom.group=1", LAYER_CGROUP_MEMORY },
	};
	uint64_t layers;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fresh_kernel(NULL);
		host.files = rows[i].files;
		assert_int_equal(make(plan_of(64u << 20, 64, 150), &layers), 0);
		assert_string_equal(host.writes, rows[i].writes);
		assert_int_equal(layers, LAYER_SECCOMP | LAYER_CGROUP | rows[i].layers);
	}
}

/* ALL up to and with what is written to this file. */
static void
assert_written_up_to(const char *file)
{
	const char *at = strstr(ALL, file), *end = strstr(at, strcmp(file, "cpu.max") == 0 ? "nothing" : " ");
	size_t length = end ? (size_t)(end - ALL) : strlen(ALL);

	assert_int_equal(strlen(host.writes), length);
	assert_memory_equal(host.writes, ALL, length);
}

static void
a_write_that_fails_refuses_with_its_errno_and_is_the_last(void **state)
{
	uint64_t layers;

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		fresh_kernel(NULL);
		host.refuses = everything[i];
		assert_int_equal(make(plan_of(64u << 20, 64, 150), &layers), EBUSY);
		assert_written_up_to(everything[i]);
		assert_int_equal(layers, LAYER_SECCOMP);
	}
}

/* errno of the limit that failed, not of a controller that was looked for afterwards. */
static void
a_failure_keeps_its_errno_where_other_controllers_are_missing(void **state)
{
	static const char *const memory[] = { "memory.max", "memory.swap.max", "memory.oom.group", NULL };
	uint64_t layers;

	(void)state;
	host.files = memory;
	host.refuses = "memory.max";
	assert_int_equal(make(plan_of(64u << 20, 64, 150), &layers), EBUSY);
}

static void
a_limit_that_reads_back_as_another_refuses(void **state)
{
	static const char *const read_back[] = { "memory.max", "memory.swap.max", "pids.max", "cpu.max" };
	uint64_t layers;

	(void)state;
	for (size_t i = 0; i < sizeof(read_back) / sizeof(read_back[0]); i++) {
		fresh_kernel(NULL);
		host.keeps_other = read_back[i];
		assert_int_equal(make(plan_of(64u << 20, 64, 150), &layers), EPERM);
		assert_written_up_to(read_back[i]);
		assert_int_equal(layers, LAYER_SECCOMP);
	}
}

static void
half_a_write_refuses_and_has_an_errno(void **state)
{
	uint64_t layers;

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		fresh_kernel(NULL);
		host.shortens = everything[i];
		assert_int_equal(make(plan_of(64u << 20, 64, 150), &layers), EIO);
		assert_int_equal(layers, LAYER_SECCOMP);
	}
}

static void
memory_without_an_end_of_the_whole_group_refuses(void **state)
{
	static const char *const old[] = { "memory.max", "memory.swap.max", NULL };
	uint64_t layers;

	(void)state;
	host.files = old;
	assert_int_equal(make(plan_of(64u << 20, 64, 150), &layers), ENOENT);
	assert_int_equal(layers, LAYER_SECCOMP);
}

static void
a_group_that_is_there_already_refuses(void **state)
{
	uint64_t layers = 0;

	(void)state;
	assert_int_equal(__real_mkdirat(jobs, "run.2", 0755), 0);
	assert_int_equal(cgroup_make(jobs, "run.2", plan_of(0, 64, 0), &layers), -1);
	assert_int_equal(errno, EEXIST);
	assert_int_equal(layers, 0);
	assert_string_equal(host.writes, "");
	assert_true(cgroup_remove(jobs, "run.2"));
}

static void
killing_writes_one_and_no_group_is_no_fault(void **state)
{
	uint64_t layers = 0;
	int group = cgroup_make(jobs, "run.3", plan_of(0, 64, 0), &layers);

	(void)state;
	assert_true(group >= 0);
	host.writes[0] = '\0';
	cgroup_kill(jobs, "run.3");
	assert_string_equal(host.writes, "cgroup.kill=1");
	empty(group);
	close(group);
	assert_true(cgroup_remove(jobs, "run.3"));
	cgroup_kill(jobs, "run.3");
	assert_true(cgroup_remove(jobs, "run.3"));
}

static int
open_jobs(void **state)
{
	(void)state;
	if (!mkdtemp(top))
		return -1;
	jobs = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return jobs < 0 ? -1 : 0;
}

static int
remove_jobs(void **state)
{
	(void)state;
	close(jobs);
	return rmdir(top);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(every_limit_is_written_once_and_each_controller_is_a_layer, fresh_kernel),
		cmocka_unit_test_setup(memory_is_whole_pages_rounded_down, fresh_kernel),
		cmocka_unit_test_setup(the_largest_values_of_a_policy_are_written_whole, fresh_kernel),
		cmocka_unit_test_setup(no_limit_writes_nothing_and_is_no_layer, fresh_kernel),
		cmocka_unit_test_setup(a_controller_that_is_not_here_is_no_layer_and_no_failure, fresh_kernel),
		cmocka_unit_test_setup(a_write_that_fails_refuses_with_its_errno_and_is_the_last, fresh_kernel),
		cmocka_unit_test_setup(a_failure_keeps_its_errno_where_other_controllers_are_missing, fresh_kernel),
		cmocka_unit_test_setup(a_limit_that_reads_back_as_another_refuses, fresh_kernel),
		cmocka_unit_test_setup(half_a_write_refuses_and_has_an_errno, fresh_kernel),
		cmocka_unit_test_setup(memory_without_an_end_of_the_whole_group_refuses, fresh_kernel),
		cmocka_unit_test_setup(a_group_that_is_there_already_refuses, fresh_kernel),
		cmocka_unit_test_setup(killing_writes_one_and_no_group_is_no_fault, fresh_kernel),
	};

	return cmocka_run_group_tests(tests, open_jobs, remove_jobs);
}
