/*
 * The loaded filters, number by number, each in a forked child.  Beneath the filter under test
 * lies one of our own that answers every call with an errno nobody else gives: so each verdict is
 * seen and no call is made.
 * links: executor/filter.c shared/digest.c shared/log.c
 * libs: -lseccomp -lsodium */
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "digest.h"

#include "filter.h"

#define PASSED EUNATCH /* our filter's answer: the one under test let it through */
#define NUMBERS 1024

/*
 * uretprobe and uprobe of x86-64: since 6.14 the kernel passes them by every filter, and ends whom
 * its probes did not call.
 */
#define UNFILTERED(number) ((number) == 335 || (number) == 336)

/* Calls that the child itself needs; they are tested by what the contract tests run. */
static const int needed[] = { SYS_seccomp, SYS_prctl, SYS_exit_group, SYS_exit, SYS_write };

static int
load_answering_filter(void)
{
	struct sock_filter code[16] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		offsetof(struct seccomp_data, nr)) };
	struct sock_fprog program = { .filter = code };
	unsigned at = 1;

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
		    (unsigned)needed[i], 0, 1);
		code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | PASSED);
	program.len = (unsigned short)at;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

struct question {
	long number;
	unsigned long arguments[6];
};

/*
 * Ask them all in one child under that filter; answers[i] is an errno, 0 for a success.  The wait
 * status.
 */
static int
ask(int (*load)(void), const struct question *questions, int *answers, size_t count)
{
	int *shared = mmap(NULL, count * sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED |
	    MAP_ANONYMOUS, -1, 0);
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		if (load_answering_filter() < 0 || load() < 0)
			syscall(SYS_exit_group, 99);
		for (size_t i = 0; i < count; i++) {
			const unsigned long *a = questions[i].arguments;

			shared[i] = syscall(questions[i].number, a[0], a[1], a[2], a[3], a[4],
			    a[5]) < 0 ? errno : 0;
		}
		syscall(SYS_exit_group, 0);
	}
	waitpid(pid, &status, 0);
	memcpy(answers, shared, count * sizeof(int));
	munmap(shared, count * sizeof(int));
	return status;
}

static int
ask_one(long number, unsigned long a, unsigned long b, unsigned long c, unsigned long d)
{
	struct question question = { number, { a, b, c, d, 0, 0 } };
	int answer = -1;

	assert_int_equal(ask(filter_load_job, &question, &answer, 1), 0);
	return answer;
}

/* What the table says. */
struct row {
	const char *name;
	long number; /* where libseccomp does not know the name */
	int answer;
};

static const struct row table[] = {
#define ALLOW(name) { #name, -1, PASSED },
#define ALLOW_NUMBER(name, n) { NULL, n, PASSED },
#define REFUSE(name) { #name, -1, EPERM },
#define NEVER(name) { #name, -1, EPERM },
#include "filter.def"
};

static bool
is_left_out(long number)
{
	if (UNFILTERED(number))
		return true;
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (needed[i] == number)
			return true;
	return false;
}

static int
expected(long number)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (number == (table[i].name ?
		    seccomp_syscall_resolve_name(table[i].name) : table[i].number))
			return table[i].answer;
	return ENOSYS;
}

static void
every_number_is_answered_as_the_table_says(void **state)
{
	static struct question questions[NUMBERS];
	static int answers[NUMBERS];
	unsigned wrong = 0;

	(void)state;
	for (long number = 0; number < NUMBERS; number++)
		questions[number].number = is_left_out(number) ? SYS_mount : number;
	questions[SYS_socket].arguments[0] = AF_UNIX; /* 0 is a family that is refused */
	assert_int_equal(ask(filter_load_job, questions, answers, NUMBERS), 0);
	for (long number = 0; number < NUMBERS; number++)
		if (!is_left_out(number) && answers[number] != expected(number)) {
			printf("# call %ld: %s, not %s\n", number, strerror(answers[number]),
			    strerror(expected(number)));
			wrong++;
		}
	assert_int_equal(wrong, 0);
}

/* The claims of the paper, by name: so that a wrong table does not agree with itself. */
static void
what_must_never_be_allowed_is_not(void **state)
{
	static const int refused[] = { SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot,
		SYS_unshare, SYS_setns, SYS_bpf,
		SYS_perf_event_open, SYS_fanotify_init, SYS_open_by_handle_at, SYS_kexec_load,
		    SYS_kexec_file_load,
		SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_reboot, SYS_swapon,
		    SYS_swapoff, SYS_acct,
		SYS_quotactl, SYS_quotactl_fd, SYS_syslog, SYS_add_key, SYS_request_key, SYS_keyctl,
		    SYS_ptrace,
		SYS_process_vm_readv, SYS_process_vm_writev, SYS_process_madvise, SYS_pidfd_getfd,
		    SYS_kcmp, SYS_userfaultfd,
		SYS_mbind, SYS_set_mempolicy, SYS_get_mempolicy, SYS_move_pages, SYS_migrate_pages,
		    SYS_settimeofday,
		SYS_clock_settime, SYS_clock_adjtime, SYS_adjtimex, SYS_sethostname,
		    SYS_setdomainname, SYS_vhangup };
	static const int unknown[] = { SYS_clone3, SYS_open_tree, SYS_move_mount, SYS_fsopen,
		SYS_fsconfig, SYS_fsmount,
		SYS_fspick, SYS_mount_setattr, SYS_io_uring_setup, SYS_io_uring_enter,
		    SYS_io_uring_register, SYS_memfd_secret,
		SYS_vmsplice, SYS_openat2, 452 /* fchmodat2 */, 457 /* statmount */, 458, 459, 460,
		    461, 463 /* setxattrat */,
		467 /* open_tree_attr */ };

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		assert_int_equal(ask_one(refused[i], 0, 0, 0, 0), EPERM);
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		assert_int_equal(ask_one(unknown[i], 0, 0, 0, 0), ENOSYS);
}

#define HIGH (1ul << 32) /* the kernel does not look at it */

static void
no_namespace_can_be_cloned(void **state)
{
	static const unsigned long flags[] = { CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS,
		CLONE_NEWIPC, CLONE_NEWUSER,
		CLONE_NEWPID, CLONE_NEWNET };

	(void)state;
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		assert_int_equal(ask_one(SYS_clone, flags[i] | SIGCHLD, 0, 0, 0), EPERM);
		assert_int_equal(ask_one(SYS_clone, HIGH | flags[i] | CLONE_VM, 0, 0, 0), EPERM);
	}
	assert_int_equal(ask_one(SYS_clone, SIGCHLD, 0, 0, 0), PASSED);
	assert_int_equal(ask_one(SYS_clone, CLONE_VM | CLONE_THREAD | CLONE_SIGHAND | CLONE_SETTLS,
	    0, 0, 0), PASSED);
}

static void
no_terminal_input_can_be_forged(void **state)
{
	(void)state;
	assert_int_equal(ask_one(SYS_ioctl, 0, 0x5412, 0, 0), EPERM);
	assert_int_equal(ask_one(SYS_ioctl, 0, HIGH | 0x5412, 0, 0), EPERM);
	assert_int_equal(ask_one(SYS_ioctl, 0, 0x541c, 0, 0), EPERM);
	assert_int_equal(ask_one(SYS_ioctl, 0, HIGH | 0x541c, 0, 0), EPERM);
	assert_int_equal(ask_one(SYS_ioctl, 0, 0x5401, 0, 0), PASSED);
}

static void
four_socket_families(void **state)
{
	(void)state;
	for (unsigned long family = 0; family < 70; family++) {
		bool usual = family == AF_UNIX || family == AF_INET || family == AF_INET6 ||
		    family == AF_NETLINK;

		assert_int_equal(ask_one(SYS_socket, family, SOCK_STREAM, 0, 0), usual ?
		    PASSED : EAFNOSUPPORT);
		assert_int_equal(ask_one(SYS_socket, HIGH | family, SOCK_STREAM, 0, 0),
		    EAFNOSUPPORT);
	}
}

static void
no_set_id_bit_can_be_made(void **state)
{
	static const unsigned long bits[] = { S_ISUID, S_ISGID, S_ISUID | S_ISGID };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		unsigned long mode = 0755 | bits[i];

		assert_int_equal(ask_one(SYS_fchmod, 0, mode, 0, 0), EPERM);
		assert_int_equal(ask_one(SYS_fchmodat, 0, 0, mode, 0), EPERM);
		assert_int_equal(ask_one(SYS_fchmodat, 0, 0, HIGH | mode, 0), EPERM);
		assert_int_equal(ask_one(SYS_mkdirat, 0, 0, mode, 0), EPERM);
		assert_int_equal(ask_one(SYS_mknodat, 0, 0, S_IFREG | mode, 0), EPERM);
		assert_int_equal(ask_one(SYS_openat, 0, 0, O_WRONLY | O_CREAT, mode), EPERM);
		assert_int_equal(ask_one(SYS_openat, 0, 0, O_WRONLY | O_TMPFILE, mode), EPERM);
#ifdef __x86_64__
		assert_int_equal(ask_one(SYS_chmod, 0, mode, 0, 0), EPERM);
		assert_int_equal(ask_one(SYS_creat, 0, mode, 0, 0), EPERM);
		assert_int_equal(ask_one(SYS_mkdir, 0, mode, 0, 0), EPERM);
		assert_int_equal(ask_one(SYS_mknod, 0, S_IFREG | mode, 0, 0), EPERM);
		assert_int_equal(ask_one(SYS_open, 0, O_WRONLY | O_CREAT, mode, 0), EPERM);
#endif
		/*
		 * Without O_CREAT the kernel does not look at the mode, and libcs leave dirt there.
		 */
		assert_int_equal(ask_one(SYS_openat, 0, 0, O_RDONLY | O_DIRECTORY, mode), PASSED);
	}
	assert_int_equal(ask_one(SYS_fchmod, 0, 01777, 0, 0), PASSED);
	assert_int_equal(ask_one(SYS_openat, 0, 0, O_CREAT, 0777), PASSED);
}

static void
two_personalities(void **state)
{
	static const unsigned long others[] = { 1, 8, 0x0400000, 0x0040000, 0x80000000, 0xfffffffe,
		0x7fffffff, HIGH | 0x0400000,
		0xfffffffffffffffe };

	(void)state;
	assert_int_equal(ask_one(SYS_personality, 0, 0, 0, 0), PASSED);
	assert_int_equal(ask_one(SYS_personality, 0xffffffff, 0, 0, 0), PASSED);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_int_equal(ask_one(SYS_personality, others[i], 0, 0, 0), EPERM);
}

static void
limits_of_others_stay_when_the_uid_is_shared(void **state)
{
	(void)state;
	assert_int_equal(ask_one(SYS_prlimit64, 0, 0, 0, 0), PASSED);
	assert_int_equal(ask_one(SYS_prlimit64, 1, 0, 0, 0), EPERM);
	assert_int_equal(ask_one(SYS_prlimit64, HIGH, 0, 0, 0), EPERM);
}

static void
foreign_architectures_are_killed(void **state)
{
#ifdef __x86_64__
	struct question x32 = { 0x40000000 | SYS_getpid, { 0 } };
	int answer, status;
	pid_t pid;

	(void)state;
	status = ask(filter_load_job, &x32, &answer, 1);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		if (filter_load_job() == 0)
			__asm__ volatile("int $0x80" : : "a"(20));
		syscall(SYS_exit_group, 0);
	}
	waitpid(pid, &status, 0);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
#else
	(void)state;
	skip();
#endif
}

static void
the_executors_own_refuses_only_what_nobody_needs(void **state)
{
	static const struct question questions[] = { { SYS_bpf, { 0 } }, { SYS_kexec_load, { 0 } },
		{ SYS_mount, { 0 } },
		{ SYS_clone3, { 0 } }, { SYS_ptrace, { 0 } }, { SYS_keyctl, { 0 } },
		{ SYS_init_module, { 0 } } };
	static const int wanted[] = { EPERM, EPERM, PASSED, PASSED, PASSED, PASSED, EPERM };
	int answers[7];

	(void)state;
	assert_int_equal(ask(filter_load_own, questions, answers, 7), 0);
	for (size_t i = 0; i < 7; i++)
		assert_int_equal(answers[i], wanted[i]);
}

static void
inits_filter_kills(void **state)
{
	static const int allowed[] = { SYS_wait4, SYS_kill, SYS_recvmsg, SYS_sendmsg, SYS_read,
		SYS_close, SYS_ppoll };
	struct question question = { 0, { 0 } };
	int answer, status;

	(void)state;
	for (long number = 0; number < 512; number++) {
		bool let = false;

		for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
			let |= allowed[i] == number;
		if (is_left_out(number))
			continue;
		question.number = number;
		status = ask(filter_load_init, &question, &answer, 1);
		if (let)
			assert_true(status == 0 && answer == PASSED);
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
build(void **state)
{
	(void)state;
	digest_open();
	filter_open(true);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_number_is_answered_as_the_table_says),
		cmocka_unit_test(what_must_never_be_allowed_is_not),
		cmocka_unit_test(no_namespace_can_be_cloned),
		cmocka_unit_test(no_terminal_input_can_be_forged),
		cmocka_unit_test(four_socket_families),
		cmocka_unit_test(no_set_id_bit_can_be_made),
		cmocka_unit_test(two_personalities),
		cmocka_unit_test(limits_of_others_stay_when_the_uid_is_shared),
		cmocka_unit_test(foreign_architectures_are_killed),
		cmocka_unit_test(the_executors_own_refuses_only_what_nobody_needs),
		cmocka_unit_test(inits_filter_kills),
	};

	return cmocka_run_group_tests(tests, build, NULL);
}
