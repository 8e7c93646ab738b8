/* The filter of shared/seal.c, number by number as the kernel answers it once it is loaded.
 * links: shared/seal.c shared/log.c */
#include <sys/socket.h>

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "child.h"
#include "seal.h"

#define HIGHEST_NUMBER 480 /* beyond the newest call of Linux 6.18 */
#define DIRTY (1ull << 32) /* bits above the 32 that the kernel looks at */

static const struct seal_rule rules[] = {
	{ .number = __NR_exit_group, .action = SEAL_ALLOW },
	{ .number = __NR_getpid, .action = SEAL_ALLOW },
	{ .number = __NR_openat2, .action = SEAL_ENOSYS },
	{ .number = __NR_socket, .action = SEAL_ALLOW, .argument = 1, .mask = UINT64_MAX, .value = AF_UNIX },
	{ .number = __NR_socket, .action = SEAL_EPERM },
	/* fcntl(fd, command): F_GETFD only, whatever stands above bit 31. */
	{ .number = __NR_fcntl, .action = SEAL_ALLOW, .argument = 2, .mask = UINT32_MAX, .value = F_GETFD },
	{ .number = __NR_fcntl, .action = SEAL_ENOSYS, .argument = 2, .mask = UINT64_MAX, .value = 5 | DIRTY },
	/* The sixth argument, and a bit among others. */
	{ .number = __NR_getppid, .action = SEAL_EPERM, .argument = 6, .mask = 4 | DIRTY, .value = 4 },
	{ .number = __NR_getppid, .action = SEAL_ALLOW },
};

struct call {
	long number;
	uint64_t arguments[6];
	long result; /* what must come back */
	int error;
};

static void
seal(void)
{
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	seal_apply(rules, sizeof(rules) / sizeof(rules[0]));
}

/* Exit code 90 when the call came back as it must, 92 when it came back otherwise. */
static void
make_call(void *argument)
{
	const struct call *call = argument;
	const uint64_t *a = call->arguments;
	long result;

	seal();
	errno = 0;
	result = syscall(call->number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (call->result != result || (result < 0 && errno != call->error))
		syscall(SYS_exit_group, 92);
}

static int
status_of(struct call call)
{
	return child_run(make_call, &call);
}

static bool
comes_back(struct call call)
{
	return child_finished(status_of(call));
}

static bool
is_killed(struct call call)
{
	return child_killed_by_filter(status_of(call));
}

static bool
is_in_table(long number)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (rules[i].number == number)
			return true;
	return false;
}

/*
 * uretprobe and uprobe: the kernel itself lets them pass every filter, because
 * it answers them only in a trampoline of its own making (kernel/seccomp.c).
 */
static bool
is_beyond_filters(long number)
{
#ifdef __x86_64__
	return number == 335 || number == 336;
#else
	(void)number;
	return false;
#endif
}

static void
every_number_outside_the_table_is_killed(void **state)
{
	(void)state;
	for (long number = 0; number <= HIGHEST_NUMBER; number++)
		if (!is_in_table(number) && !is_beyond_filters(number) &&
		    !is_killed((struct call){ .number = number }))
			fail_msg("call %ld came through", number);
}

static void
plain_rules_answer(void **state)
{
	(void)state;
	assert_true(WEXITSTATUS(status_of((struct call){ .number = __NR_getpid, .result = -7 })) == 92);
	assert_true(comes_back((struct call){ .number = __NR_openat2, .result = -1, .error = ENOSYS }));
	assert_true(comes_back((struct call){
	    .number = __NR_exit_group, .arguments = { CHILD_ENDED_SILENTLY } }));
}

static void
an_argument_is_compared_in_both_halves(void **state)
{
	(void)state;
	/* No flag SOCK_STREAM: the kernel's EINVAL or ESOCKTNOSUPPORT shows that the call arrived there. */
	assert_true(comes_back((struct call){ .number = __NR_socket,
	    .arguments = { AF_UNIX, UINT32_MAX }, .result = -1, .error = EINVAL }));
	assert_true(comes_back((struct call){ .number = __NR_socket,
	    .arguments = { AF_INET, SOCK_STREAM }, .result = -1, .error = EPERM }));
	assert_true(comes_back((struct call){ .number = __NR_socket,
	    .arguments = { AF_UNIX | DIRTY, SOCK_STREAM }, .result = -1, .error = EPERM }));
}

static void
a_mask_chooses_the_bits(void **state)
{
	(void)state;
	assert_true(comes_back((struct call){ .number = __NR_fcntl,
	    .arguments = { 999, F_GETFD }, .result = -1, .error = EBADF }));
	assert_true(comes_back((struct call){ .number = __NR_fcntl,
	    .arguments = { 999, F_GETFD | DIRTY }, .result = -1, .error = EBADF }));
	assert_true(comes_back((struct call){ .number = __NR_fcntl,
	    .arguments = { 999, 5 | DIRTY }, .result = -1, .error = ENOSYS }));
	assert_true(is_killed((struct call){ .number = __NR_fcntl, .arguments = { 999, 5 } }));
	assert_true(is_killed((struct call){ .number = __NR_fcntl, .arguments = { 999, F_SETFD } }));
	assert_true(comes_back((struct call){ .number = __NR_getppid,
	    .arguments = { 0, 0, 0, 0, 0, 7 }, .result = -1, .error = EPERM }));
	assert_true(comes_back((struct call){ .number = __NR_getppid,
	    .arguments = { 0, 0, 0, 0, 0, 4 | DIRTY }, .result = getpid() }));
	assert_true(comes_back((struct call){ .number = __NR_getppid,
	    .arguments = { 4, 4, 4, 4, 4, 3 }, .result = getpid() }));
}

static void
only_its_own_options_of_prctl_come_back(void **state)
{
	(void)state;
	assert_true(comes_back((struct call){ .number = __NR_prctl,
	    .arguments = { PR_GET_SECCOMP }, .result = 2 }));
	assert_true(is_killed((struct call){ .number = __NR_prctl, .arguments = { PR_GET_DUMPABLE } }));
}

static void
numbers_of_another_table_are_killed(void **state)
{
	(void)state;
	assert_true(is_killed((struct call){ .number = 0x40000000 | __NR_getpid }));
	assert_true(is_killed((struct call){ .number = -1 }));
}

#ifdef __x86_64__
/* The number is getpid here and allowed; on i386 it is mkdir, here of no path at all. */
static void
call_as_32_bit_program(void *argument)
{
	long result = __NR_getpid;

	if (*(bool *)argument)
		seal();
	__asm__ volatile("int $0x80" : "+a"(result) : "b"(0) : "memory");
}

static void
calls_of_another_architecture_are_killed(void **state)
{
	bool sealed = false;

	(void)state;
	if (!child_finished(child_run(call_as_32_bit_program, &sealed)))
		skip(); /* this kernel has no such calls */
	sealed = true;
	assert_true(child_killed_by_filter(child_run(call_as_32_bit_program, &sealed)));
}
#endif

static void
seal_with_a_broken_call(void *argument)
{
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	child_break_call(__NR_seccomp, CHILD_ANY_ARGUMENT, *(int *)argument);
	seal_apply(rules, sizeof(rules) / sizeof(rules[0]));
}

static void
seal_without_no_new_privs(void *argument)
{
	(void)argument;
	if (geteuid() == 0 && setresuid(65534, 65534, 65534) < 0)
		return;
	seal_apply(rules, sizeof(rules) / sizeof(rules[0]));
}

/* The second one is the sharp one: a filter is already in force, so PR_GET_SECCOMP says 2 all the same. */
static void
a_filter_that_was_not_loaded_ends_the_process(void **state)
{
	int refused = EPERM, lie = 0;

	(void)state;
	assert_true(child_died_by_fatal(child_run(seal_with_a_broken_call, &refused)));
	assert_true(child_died_by_fatal(child_run(seal_with_a_broken_call, &lie)));
	assert_true(child_died_by_fatal(child_run(seal_without_no_new_privs, NULL)));
}

static void
seal_with_rule(void *argument)
{
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	seal_apply(argument, 1);
}

static void
a_rule_that_makes_no_sense_ends_the_process(void **state)
{
	struct seal_rule wrong[] = {
		{ .number = -1 },
		{ .number = 0x40000000 },
		{ .number = __NR_socket, .argument = 7 },
		{ .number = __NR_socket, .argument = 1, .mask = 1, .value = 2 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_true(child_died_by_fatal(child_run(seal_with_rule, &wrong[i])));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_number_outside_the_table_is_killed),
		cmocka_unit_test(plain_rules_answer),
		cmocka_unit_test(an_argument_is_compared_in_both_halves),
		cmocka_unit_test(a_mask_chooses_the_bits),
		cmocka_unit_test(only_its_own_options_of_prctl_come_back),
		cmocka_unit_test(numbers_of_another_table_are_killed),
#ifdef __x86_64__
		cmocka_unit_test(calls_of_another_architecture_are_killed),
#endif
		cmocka_unit_test(a_filter_that_was_not_loaded_ends_the_process),
		cmocka_unit_test(a_rule_that_makes_no_sense_ends_the_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
