/*
 * The loaded filters, number by number, for every profile and network.
 * links: executor/filter.c executor/filter_sockets.c executor/filter_load.c shared/digest.c shared/log.c shared/profile.c tests/support/filter_rig.c
 * libs: -lseccomp -lsodium */
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "digest.h"
#include "filter_case.h"

#define NUMBERS 1024
#define HIGHEST_KNOWN 466 /* removexattrat: nobody has looked at what is younger */

/* What the table says of a call. */
enum column { COLUMN_STRICT = 1, COLUMN_ALLOW, COLUMN_REFUSE, COLUMN_TRACE, COLUMN_MISSING };

static const struct row {
	const char *name;
	long number; /* where libseccomp does not know the name */
	enum column column;
} table[] = {
#define STRICT(name) { #name, -1, COLUMN_STRICT },
#define STRICT_NUMBER(name, n) { NULL, n, COLUMN_STRICT },
#define ALLOW(name) { #name, -1, COLUMN_ALLOW },
#define ALLOW_NUMBER(name, n) { NULL, n, COLUMN_ALLOW },
#define REFUSE(name) { #name, -1, COLUMN_REFUSE },
#define NEVER(name) { #name, -1, COLUMN_REFUSE },
#define TRACE(name) { #name, -1, COLUMN_TRACE },
#define MISSING(name) { #name, -1, COLUMN_MISSING },
#define MISSING_NUMBER(name, n) { NULL, n, COLUMN_MISSING },
#include "filter.def"
};

static enum column
column_of(long number)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (number == (table[i].name ?
		    seccomp_syscall_resolve_name(table[i].name) : table[i].number))
			return table[i].column;
	return 0;
}

/* By number alone; in the host's network nothing listens. */
static int
expected(long number, enum profile profile, enum network network)
{
	enum profile_calls calls = profile_row(profile)->calls;

	if (network == NETWORK_TCP_PORTS && (number == SYS_bind || number == SYS_listen ||
	    number == SYS_accept || number == SYS_accept4))
		return EACCES;
	switch (column_of(number)) {
	case COLUMN_STRICT:
		return FILTER_PASSED;
	case COLUMN_ALLOW:
		return profile == PROFILE_STRICT ? ENOSYS : FILTER_PASSED;
	case COLUMN_REFUSE:
		return EPERM;
	case COLUMN_TRACE:
		return calls == CALLS_TRACED ? FILTER_PASSED : EPERM;
	case COLUMN_MISSING:
		return ENOSYS;
	}
	return calls == CALLS_LISTED || number > HIGHEST_KNOWN ? ENOSYS : FILTER_PASSED;
}

/* Those that there are: strict has no network. */
static bool
is_possible(enum profile profile, enum network network)
{
	return network <= profile_row(profile)->network_most;
}

static void
for_each(void (*test)(enum profile profile, enum network network))
{
	for (enum profile profile = PROFILE_STRICT; profile < PROFILE_COUNT; profile++)
		for (enum network network = NETWORK_NONE; network < NETWORK_COUNT; network++)
			if (is_possible(profile, network)) {
				filter_rig_choose(profile, network);
				test(profile, network);
			}
}

static void
check_every_number(enum profile profile, enum network network)
{
	static struct filter_claim claims[NUMBERS];

	memset(claims, 0, sizeof(claims));
	for (long number = 0; number < NUMBERS; number++) {
		long asked = filter_rig_leaves_out(number) ? SYS_mount : number;

		claims[number].question.number = asked;
		claims[number].answer = expected(asked, profile, network);
	}
	/* Of family 0 there are no sockets, and strict has none at all. */
	claims[SYS_socket].question.arguments[0] = AF_UNIX;
	if (profile == PROFILE_STRICT)
		claims[SYS_socket].answer = EAFNOSUPPORT;
	claims[SYS_socketpair].question.arguments[0] = AF_UNIX;
	claims[SYS_socketpair].question.arguments[1] = SOCK_STREAM;
	filter_rig_check(claims, NUMBERS);
}

static void
every_number_is_answered_as_the_table_says(void **state)
{
	(void)state;
	for_each(check_every_number);
}

/* The claims of the paper, by name: so that a wrong table does not agree with itself. */
static void
check_what_is_never_allowed(enum profile profile, enum network network)
{
	static const int refused[] = { SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot,
		SYS_unshare, SYS_setns, SYS_bpf, SYS_perf_event_open, SYS_fanotify_init,
		SYS_open_by_handle_at, SYS_kexec_load, SYS_kexec_file_load, SYS_init_module,
		SYS_finit_module, SYS_delete_module, SYS_reboot, SYS_swapon, SYS_swapoff, SYS_acct,
		SYS_quotactl, SYS_quotactl_fd, SYS_syslog, SYS_add_key, SYS_request_key, SYS_keyctl,
		SYS_process_vm_writev, SYS_process_madvise, SYS_pidfd_getfd, SYS_kcmp,
		SYS_userfaultfd, SYS_mbind, SYS_set_mempolicy, SYS_get_mempolicy, SYS_move_pages,
		SYS_migrate_pages, SYS_settimeofday, SYS_clock_settime, SYS_clock_adjtime,
		SYS_adjtimex, SYS_sethostname, SYS_setdomainname, SYS_vhangup };
	static const int unknown[] = { SYS_clone3, SYS_open_tree, SYS_move_mount, SYS_fsopen,
		SYS_fsconfig, SYS_fsmount, SYS_fspick, SYS_mount_setattr, SYS_io_uring_setup,
		SYS_io_uring_enter, SYS_io_uring_register, SYS_memfd_secret, SYS_vmsplice,
		SYS_openat2, 452 /* fchmodat2 */, 457 /* statmount */, 458, 459, 460, 461,
		467 /* open_tree_attr */, 500, 1023, 0x3fffffff };
	static const int traced[] = { SYS_ptrace, SYS_process_vm_readv };
	struct filter_claim claims[128] = { 0 };
	size_t count = 0;

	(void)network;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		claims[count++] = (struct filter_claim){ { refused[i], { 0 } }, EPERM };
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		claims[count++] = (struct filter_claim){ { unknown[i], { 0 } }, ENOSYS };
	for (size_t i = 0; i < sizeof(traced) / sizeof(traced[0]); i++)
		claims[count++] = (struct filter_claim){ { traced[i], { 0 } },
			profile == PROFILE_DEBUG ? FILTER_PASSED : EPERM };
	filter_rig_check(claims, count);
}

static void
what_must_never_be_allowed_is_not(void **state)
{
	(void)state;
	for_each(check_what_is_never_allowed);
}

/* Each profile is there for something. */
static void
the_profiles_differ_where_they_should(void **state)
{
	static const struct filter_claim strict[] = { { { SYS_connect, { 0 } }, ENOSYS },
		{ { SYS_shmget, { 0 } }, ENOSYS }, { { SYS_inotify_init1, { 0 } }, ENOSYS },
		{ { SYS_read, { 0 } }, FILTER_PASSED }, { { 463 /* setxattrat */, { 0 } }, ENOSYS } };
	static const struct filter_claim usual[] = { { { SYS_connect, { 0 } }, FILTER_PASSED },
		{ { SYS_shmget, { 0 } }, FILTER_PASSED }, { { 463, { 0 } }, ENOSYS } };
	static const struct filter_claim compat[] = { { { SYS_connect, { 0 } }, FILTER_PASSED },
		{ { 463, { 0 } }, FILTER_PASSED }, { { 466, { 0 } }, FILTER_PASSED } };

	(void)state;
	filter_rig_choose(PROFILE_STRICT, NETWORK_NONE);
	filter_rig_check(strict, 5);
	filter_rig_choose(PROFILE_DEFAULT, NETWORK_LOOPBACK);
	filter_rig_check(usual, 3);
	filter_rig_choose(PROFILE_COMPAT, NETWORK_NONE);
	filter_rig_check(compat, 3);
	filter_rig_choose(PROFILE_AGENT, NETWORK_LOOPBACK);
	filter_rig_check(compat, 3);
}

static void
check_foreign_architectures(enum profile profile, enum network network)
{
#ifdef __x86_64__
	struct filter_question x32 = { 0x40000000 | SYS_getpid, { 0 } };
	int answer, status;
	pid_t pid;

	(void)profile;
	(void)network;
	status = filter_rig_ask(filter_rig_load_chosen, &x32, &answer, 1);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		if (filter_rig_load_chosen() == 0)
			__asm__ volatile("int $0x80" : : "a"(20));
		syscall(SYS_exit_group, 0);
	}
	waitpid(pid, &status, 0);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
#else
	(void)profile;
	(void)network;
	skip();
#endif
}

static void
foreign_architectures_are_killed(void **state)
{
	(void)state;
	for_each(check_foreign_architectures);
}

/* A test of each alone would not see that one was loaded twice. */
static void
two_filters_are_in_force_and_each_is_the_one_that_was_meant(void **state)
{
	struct filter_question ask[] = { { SYS_bind, { 0 } }, { SYS_ptrace, { 0 } } };
	int answers[2];

	(void)state;
	filter_rig_choose(PROFILE_DEBUG, NETWORK_TCP_PORTS);
	assert_int_equal(filter_rig_ask(filter_rig_load_chosen, ask, answers, 2), 0);
	assert_int_equal(answers[0], EACCES);
	assert_int_equal(answers[1], FILTER_PASSED);
	filter_rig_choose(PROFILE_COMPAT, NETWORK_LOOPBACK);
	assert_int_equal(filter_rig_ask(filter_rig_load_chosen, ask, answers, 2), 0);
	assert_int_equal(answers[0], FILTER_PASSED);
	assert_int_equal(answers[1], EPERM);
}

static void
a_digest_tells_which_filter_it_is(void **state)
{
	const uint8_t *seen[PROFILE_COUNT * NETWORK_COUNT];
	size_t count = 0;

	(void)state;
	for (enum profile profile = PROFILE_STRICT; profile < PROFILE_COUNT; profile++)
		for (enum network network = NETWORK_NONE; network < NETWORK_COUNT; network++)
			assert_non_null(filter_digest(profile, network));
	/* By the calls they refuse these two are one, and a network of its own is one. */
	assert_memory_equal(filter_digest(PROFILE_AGENT, NETWORK_LOOPBACK),
	    filter_digest(PROFILE_COMPAT, NETWORK_NONE), 32);
	seen[count++] = filter_digest(PROFILE_STRICT, NETWORK_NONE);
	for (enum profile profile = PROFILE_DEFAULT; profile < PROFILE_COUNT; profile++)
		if (profile != PROFILE_AGENT) {
			seen[count++] = filter_digest(profile, NETWORK_NONE);
			seen[count++] = filter_digest(profile, NETWORK_TCP_PORTS);
		}
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < i; k++)
			assert_memory_not_equal(seen[i], seen[k], 32);
}

static void
what_the_bounds_do_not_allow_is_not_built_and_cannot_be_loaded(void **state)
{
	struct filter_question question = { SYS_getpid, { 0 } };
	int answer, status;

	(void)state;
	assert_non_null(filter_digest(PROFILE_STRICT, NETWORK_NONE));
	assert_non_null(filter_digest(PROFILE_DEFAULT, NETWORK_NONE));
	assert_null(filter_digest(PROFILE_DEFAULT, NETWORK_TCP_PORTS));
	assert_null(filter_digest(PROFILE_COMPAT, NETWORK_NONE));
	filter_rig_choose(PROFILE_COMPAT, NETWORK_NONE);
	status = filter_rig_ask(filter_rig_load_chosen, &question, &answer, 1);
	assert_int_equal(WEXITSTATUS(status), 99);
}

static void
the_executors_own_refuses_only_what_nobody_needs(void **state)
{
	static const struct filter_question questions[] = { { SYS_bpf, { 0 } }, { SYS_kexec_load, { 0 } },
		{ SYS_mount, { 0 } },
		{ SYS_clone3, { 0 } }, { SYS_ptrace, { 0 } }, { SYS_keyctl, { 0 } },
		{ SYS_init_module, { 0 } } };
	static const int wanted[] = { EPERM, EPERM, FILTER_PASSED, FILTER_PASSED, FILTER_PASSED, FILTER_PASSED, EPERM };
	int answers[7];

	(void)state;
	assert_int_equal(filter_rig_ask(filter_load_own, questions, answers, 7), 0);
	for (size_t i = 0; i < 7; i++)
		assert_int_equal(answers[i], wanted[i]);
}

static void
inits_filter_kills(void **state)
{
	static const int allowed[] = { SYS_wait4, SYS_kill, SYS_recvmsg, SYS_sendmsg, SYS_read,
		SYS_close, SYS_ppoll };
	struct filter_question question = { 0, { 0 } };
	int answer, status;

	(void)state;
	for (long number = 0; number < 512; number++) {
		bool let = false;

		for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
			let |= allowed[i] == number;
		if (filter_rig_leaves_out(number))
			continue;
		question.number = number;
		status = filter_rig_ask(filter_load_init, &question, &answer, 1);
		if (let)
			assert_true(status == 0 && answer == FILTER_PASSED);
		else if (number == SYS_getrusage || number == SYS_rt_sigreturn ||
		    number == SYS_restart_syscall
#ifdef __x86_64__
		    || number == SYS_poll
#endif
		    )
			assert_int_equal(status, 0);
		else
			assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
	}
}

static int
build_default(void **state)
{
	(void)state;
	filter_open(true, PROFILE_DEFAULT, NETWORK_NONE);
	return 0;
}

static int
build_all(void **state)
{
	(void)state;
	filter_open(true, PROFILE_DEBUG, NETWORK_TCP_PORTS);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest bounded[] = {
		cmocka_unit_test(what_the_bounds_do_not_allow_is_not_built_and_cannot_be_loaded),
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_number_is_answered_as_the_table_says),
		cmocka_unit_test(what_must_never_be_allowed_is_not),
		cmocka_unit_test(the_profiles_differ_where_they_should),
		cmocka_unit_test(foreign_architectures_are_killed),
		cmocka_unit_test(two_filters_are_in_force_and_each_is_the_one_that_was_meant),
		cmocka_unit_test(a_digest_tells_which_filter_it_is),
		cmocka_unit_test(the_executors_own_refuses_only_what_nobody_needs),
		cmocka_unit_test(inits_filter_kills),
	};

	digest_open();
	return cmocka_run_group_tests(bounded, build_default, NULL) +
	    cmocka_run_group_tests(tests, build_all, NULL);
}
