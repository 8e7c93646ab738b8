/* The begin of a process and its wish to end, of shared/process.c.
 * links: shared/process.c shared/loop.c shared/log.c */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/stat.h>
#include <sys/wait.h>

#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "process.h"

extern char **environ;

/* In a child, as all of this changes the process for good; its exit status names what was wrong. */
static int
status_of(int (*work)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
		_exit(work());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 200;
}

/* Descriptors 3 to 9 open and inheritable, then begin with 5 as the highest. */
static int
begin_with_descriptors(void)
{
	char byte;

	for (int fd = 3; fd < 10; fd++)
		dup2(STDERR_FILENO, fd);
	process_begin("tester", 5);
	for (int fd = 3; fd <= 5; fd++)
		if (fcntl(fd, F_GETFD) != FD_CLOEXEC)
			return fd;
	for (int fd = 6; fd < 64; fd++)
		if (fcntl(fd, F_GETFD) != -1)
			return fd;
	return read(STDIN_FILENO, &byte, 1) == 0 ? 0 : 100;
}

static int
begin_without_standard_descriptors(void)
{
	close(0);
	close(1);
	close(2);
	process_begin("tester", 2);
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) != 0)
			return 10 + fd;
	return fcntl(3, F_GETFD) == -1 ? 0 : 20;
}

static int
begin_changes_the_surroundings(void)
{
	struct sigaction now;

	umask(0);
	setenv("CANARY", "1", 1);
	process_begin("tester", 2);
	if (environ && environ[0])
		return 1;
	if (umask(0) != 077)
		return 2;
	sigaction(SIGPIPE, NULL, &now);
	return now.sa_handler == SIG_IGN ? 0 : 3;
}

static int
a_signal_ends_the_wish(int number)
{
	struct loop loop;

	process_begin("tester", 2);
	loop_open(&loop);
	process_watch(&loop);
	if (!process_wanted())
		return 1;
	kill(getpid(), SIGHUP);
	loop_wait(&loop, 1000);
	if (!process_wanted())
		return 2;
	kill(getpid(), number);
	loop_wait(&loop, 1000);
	return process_wanted() ? 3 : 0;
}

static int
end_by_term(void)
{
	return a_signal_ends_the_wish(SIGTERM);
}

static int
end_by_int(void)
{
	return a_signal_ends_the_wish(SIGINT);
}

/* Those that libc keeps for itself, too: make ignores them for its children. */
static int
reset_signals_of_libc(void)
{
	unsigned long ignore[8] = { (unsigned long)SIG_IGN }, now[8] = { 1 };

	for (int number = 32; number <= 33; number++)
		if (syscall(SYS_rt_sigaction, number, ignore, NULL, 8) < 0)
			return 1;
	process_reset_signals();
	for (int number = 32; number <= 33; number++)
		if (syscall(SYS_rt_sigaction, number, NULL, now, 8) < 0 || now[0] != (unsigned long)SIG_DFL)
			return 2;
	return 0;
}

static int
reset_signals(void)
{
	struct sigaction now;
	sigset_t mask;

	end_by_term();
	process_reset_signals();
	sigaction(SIGPIPE, NULL, &now);
	if (now.sa_handler != SIG_DFL)
		return 1;
	sigprocmask(SIG_SETMASK, NULL, &mask);
	return sigismember(&mask, SIGTERM) ? 2 : 0;
}

static void
only_the_expected_descriptors_stay(void **state)
{
	(void)state;
	assert_int_equal(status_of(begin_with_descriptors), 0);
}

static void
missing_standard_descriptors_are_filled(void **state)
{
	(void)state;
	assert_int_equal(status_of(begin_without_standard_descriptors), 0);
}

static void
environment_umask_and_sigpipe_are_set(void **state)
{
	(void)state;
	assert_int_equal(status_of(begin_changes_the_surroundings), 0);
}

static void
term_and_int_end_it_and_hup_does_not(void **state)
{
	(void)state;
	assert_int_equal(status_of(end_by_term), 0);
	assert_int_equal(status_of(end_by_int), 0);
}

static void
signals_are_as_at_birth_after_a_reset(void **state)
{
	(void)state;
	assert_int_equal(status_of(reset_signals), 0);
	assert_int_equal(status_of(reset_signals_of_libc), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_expected_descriptors_stay),
		cmocka_unit_test(missing_standard_descriptors_are_filled),
		cmocka_unit_test(environment_umask_and_sigpipe_are_set),
		cmocka_unit_test(term_and_int_end_it_and_hup_does_not),
		cmocka_unit_test(signals_are_as_at_birth_after_a_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
