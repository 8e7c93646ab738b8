/* What shared/confine.c takes away, and that it ends the process when a measure fails or only claims to have worked.
 * links: shared/confine.c shared/landlock.c shared/landlock_rights.c shared/log.c shared/text.c shared/profile.c */
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "child.h"
#include "confine.h"
#include "landlock.h"

#define NOBODY 65534u
#define EXECUTOR_KEEPS (1ull << CAP_SYS_ADMIN | 1ull << CAP_SETUID | 1ull << CAP_KILL)

/* Ends the child with the line's number: no assertion library after a fork. */
#define must(condition) do { if (!(condition)) _exit(100 + __LINE__ % 100); } while (0)

/* The value of a line of /proc/self/status, as hexadecimal (capabilities) or decimal below 10 (flags). */
static uint64_t
status_value(const char *name)
{
	char line[256];
	size_t length = strlen(name);
	uint64_t value = UINT64_MAX;
	FILE *file = fopen("/proc/self/status", "re");

	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, name, length) == 0 && line[length] == ':')
			value = strtoull(line + length + 1, NULL, 16);
	if (file)
		fclose(file);
	return value;
}

static void
become_nobody(void)
{
	gid_t group = NOBODY;

	must(geteuid() != 0 || setgroups(1, &group) == 0);
	must(geteuid() != 0 || setresgid(NOBODY, NOBODY, NOBODY) == 0);
	must(geteuid() != 0 || setresuid(NOBODY, NOBODY, NOBODY) == 0);
	/* A change of the uid makes a process undumpable; a fresh program would be dumpable. */
	must(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0);
}

/* The file is read while the process is still in the test's /proc: also undumpable it may read its own status. */
static void
must_hold(uint64_t keep)
{
	must(status_value("CapPrm") == keep);
	must(status_value("CapEff") == keep);
	must(status_value("CapInh") == 0);
	must(status_value("CapAmb") == 0);
	must(status_value("CapBnd") == 0);
	must(status_value("NoNewPrivs") == 1);
	must(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0);
}

static void
confine_and_look(void *argument)
{
	uint64_t keep = *(uint64_t *)argument;
	struct rlimit core;

	confine_privileges(keep);
	must_hold(keep);
	must(getrlimit(RLIMIT_CORE, &core) == 0 && core.rlim_cur == 0 && core.rlim_max == 0);
}

static void
confine_as_root(void *argument)
{
	gid_t groups[2] = { 1, 2 };

	must(setgroups(2, groups) == 0);
	confine_and_look(argument);
	must(getgroups(0, NULL) == 0);
}

static void
confine_as_user(void *argument)
{
	uid_t uid;

	become_nobody();
	uid = geteuid();
	confine_and_look(argument);
	must(geteuid() == uid && getuid() == uid);
	must(setuid(0) != 0);
}

/* As launch leaves broker and auditor: bounding set gone, another uid.  Then no namespace is needed nor entered. */
static void
confine_with_empty_bounding_set(void *argument)
{
	struct stat before, after;

	for (int number = 0; prctl(PR_CAPBSET_READ, number) >= 0; number++)
		must(prctl(PR_CAPBSET_DROP, number) == 0);
	become_nobody();
	must(stat("/proc/self/ns/user", &before) == 0);
	confine_and_look(argument);
	must(stat("/proc/self/ns/user", &after) < 0 || before.st_ino == after.st_ino);
}

static void
need_a_user_namespace(void *argument)
{
	(void)argument;
	become_nobody();
	must(unshare(CLONE_NEWUSER) == 0);
}

/* Some hosts give ordinary users none. */
static bool
users_have_namespaces(void)
{
	return child_finished(child_run(need_a_user_namespace, NULL));
}

static void
privileges_are_gone(void **state)
{
	uint64_t keep = 0;

	(void)state;
	if (users_have_namespaces())
		assert_true(child_finished(child_run(confine_as_user, &keep)));
	if (geteuid() != 0)
		skip();
	assert_true(child_finished(child_run(confine_as_root, &keep)));
	assert_true(child_finished(child_run(confine_with_empty_bounding_set, &keep)));
}

static void
only_the_kept_capabilities_stay(void **state)
{
	uint64_t keep = EXECUTOR_KEEPS;

	(void)state;
	if (users_have_namespaces())
		assert_true(child_finished(child_run(confine_as_user, &keep)));
	if (geteuid() != 0)
		skip();
	assert_true(child_finished(child_run(confine_as_root, &keep)));
}

struct broken_call {
	const char *what;
	int number;
	uint32_t first;
	bool as_user; /* only an ordinary user makes this call */
};

static const struct broken_call broken_calls[] = {
	{ "no_new_privs", __NR_prctl, PR_SET_NO_NEW_PRIVS, false },
	{ "dumpable", __NR_prctl, PR_SET_DUMPABLE, false },
	{ "bounding set", __NR_prctl, PR_CAPBSET_DROP, false },
	{ "ambient set", __NR_prctl, PR_CAP_AMBIENT, false },
	{ "capset", __NR_capset, CHILD_ANY_ARGUMENT, false },
	{ "limit", __NR_prlimit64, CHILD_ANY_ARGUMENT, false },
	{ "groups", __NR_setgroups, CHILD_ANY_ARGUMENT, false },
	{ "user namespace", __NR_unshare, CHILD_ANY_ARGUMENT, true },
};

struct attempt {
	const struct broken_call *call;
	int error;
};

static void
confine_with_a_broken_call(void *argument)
{
	const struct attempt *attempt = argument;
	gid_t groups[1] = { 1 };

	if (attempt->call->as_user)
		become_nobody();
	else
		must(setgroups(1, groups) == 0);
	child_break_call(attempt->call->number, attempt->call->first, attempt->error);
	confine_privileges(0);
}

static void
try_broken_calls(int error)
{
	for (size_t i = 0; i < sizeof(broken_calls) / sizeof(broken_calls[0]); i++) {
		struct attempt attempt = { &broken_calls[i], error };

		/* The ambient set is empty from the start: only refusing to clear it can be noticed. */
		if (error == 0 && broken_calls[i].first == PR_CAP_AMBIENT)
			continue;
		if (!child_died_by_fatal(child_run(confine_with_a_broken_call, &attempt)))
			fail_msg("went on without: %s", broken_calls[i].what);
	}
}

static void
a_refused_measure_ends_the_process(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	try_broken_calls(EPERM);
}

static void
a_measure_without_effect_ends_the_process(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	try_broken_calls(0);
}

static char folder[] = "/tmp/confine-test-XXXXXX";
static char inside[64], outside[64];

static int
open_folder(void)
{
	return open(inside, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void
reach_only_the_granted_files(void *argument)
{
	struct confine_file file = { open_folder(), LL_READ_FILE | LL_WRITE_FILE | LL_MAKE_REG };
	char path[128];

	(void)argument;
	must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	confine_files(&file, 1, 1);
	must(snprintf(path, sizeof(path), "%s/new", inside) > 0);
	must(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) >= 0);
	must(open(outside, O_RDONLY | O_CLOEXEC) < 0 && errno == EACCES);
	must(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) < 0 && errno == EACCES);
	must(unlink(path) < 0 && errno == EACCES);
	if (landlock_abi() >= 3)
		must(truncate(path, 0) < 0 && errno == EACCES);
}

static void
use_no_tcp(void *argument)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)argument;
	must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	confine_files(NULL, 0, 1);
	must(bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 && errno == EACCES);
	address.sin_port = htons(9);
	must(connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 && errno == EACCES);
}

static void
signal_nobody_outside(void *argument)
{
	(void)argument;
	must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	confine_files(NULL, 0, 1);
	must(kill(getppid(), 0) < 0 && errno == EPERM);
	must(kill(getpid(), 0) == 0);
}

static void
signal_somebody_outside(void *argument)
{
	(void)argument;
	must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	confine_files_but_signals(NULL, 0, 1);
	must(kill(getppid(), 0) == 0);
	must(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC) < 0 && errno == EACCES);
}

static void
connect_to_no_abstract_socket(void *argument)
{
	const struct sockaddr_un *address = argument;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t length = offsetof(struct sockaddr_un, sun_path) + 16;

	must(connect(fd, (const struct sockaddr *)address, length) == 0); /* it can be reached before */
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	confine_files(NULL, 0, 1);
	must(connect(fd, (const struct sockaddr *)address, length) < 0 && errno == EPERM);
}

static void
demand_an_abi_of_the_future(void *argument)
{
	(void)argument;
	must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	confine_files(NULL, 0, 1000);
}

static void
confine_files_with_a_broken_call(void *argument)
{
	const struct attempt *attempt = argument;
	struct confine_file file = { open_folder(), LL_READ_FILE };

	must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	child_break_call(attempt->call->number, CHILD_ANY_ARGUMENT, attempt->error);
	confine_files(&file, 1, 1);
}

static void
files_are_closed(void **state)
{
	(void)state;
	if (landlock_abi() < 1)
		skip();
	assert_true(child_finished(child_run(reach_only_the_granted_files, NULL)));
	assert_true(child_died_by_fatal(child_run(demand_an_abi_of_the_future, NULL)));
}

static void
tcp_is_closed(void **state)
{
	(void)state;
	if (landlock_abi() < 4)
		skip();
	assert_true(child_finished(child_run(use_no_tcp, NULL)));
}

static void
signals_and_abstract_sockets_stay_inside(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)state;
	if (landlock_abi() < 6)
		skip();
	assert_true(child_finished(child_run(signal_nobody_outside, NULL)));
	assert_true(child_finished(child_run(signal_somebody_outside, NULL)));
	assert_true(snprintf(address.sun_path + 1, 16, "confine-%07d", (int)getpid()) == 15);
	assert_return_code(bind(listener, (struct sockaddr *)&address,
	    offsetof(struct sockaddr_un, sun_path) + 16), errno);
	assert_return_code(listen(listener, 4), errno);
	assert_true(child_finished(child_run(connect_to_no_abstract_socket, &address)));
	close(listener);
}

static void
a_failing_landlock_call_ends_the_process(void **state)
{
	static const struct broken_call calls[] = {
		{ "create", __NR_landlock_create_ruleset, 0, false },
		{ "add", __NR_landlock_add_rule, 0, false },
		{ "restrict", __NR_landlock_restrict_self, 0, false },
	};
	struct attempt lie = { &calls[2], 0 };

	(void)state;
	if (landlock_abi() < 1)
		skip();
	for (size_t i = 0; i < 3; i++) {
		struct attempt attempt = { &calls[i], EPERM };

		if (!child_died_by_fatal(child_run(confine_files_with_a_broken_call, &attempt)))
			fail_msg("went on without: %s", calls[i].what);
	}
	assert_true(child_died_by_fatal(child_run(confine_files_with_a_broken_call, &lie)));
}

static void
lower_and_never_raise(void *argument)
{
	struct rlimit limit = { 64, 128 };

	(void)argument;
	must(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	confine_limit(RLIMIT_NOFILE, 1000);
	must(getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur == 64 && limit.rlim_max == 128);
	confine_limit(RLIMIT_NOFILE, 100);
	must(getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur == 64 && limit.rlim_max == 100);
	confine_limit(RLIMIT_NOFILE, 32);
	must(getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur == 32 && limit.rlim_max == 32);
}

static void
a_limit_is_lowered_and_never_raised(void **state)
{
	(void)state;
	assert_true(child_finished(child_run(lower_and_never_raise, NULL)));
}

static int
make_files(void **state)
{
	FILE *file;

	(void)state;
	if (!mkdtemp(folder) || snprintf(inside, sizeof(inside), "%s/in", folder) < 0 ||
	    snprintf(outside, sizeof(outside), "%s/out", folder) < 0 || mkdir(inside, 0700) < 0)
		return -1;
	file = fopen(outside, "we");
	return file ? fclose(file) : -1;
}

static int
remove_files(void **state)
{
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/new", inside);
	unlink(path);
	unlink(outside);
	rmdir(inside);
	return rmdir(folder);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(privileges_are_gone),
		cmocka_unit_test(only_the_kept_capabilities_stay),
		cmocka_unit_test(a_refused_measure_ends_the_process),
		cmocka_unit_test(a_measure_without_effect_ends_the_process),
		cmocka_unit_test(files_are_closed),
		cmocka_unit_test(tcp_is_closed),
		cmocka_unit_test(signals_and_abstract_sockets_stay_inside),
		cmocka_unit_test(a_failing_landlock_call_ends_the_process),
		cmocka_unit_test(a_limit_is_lowered_and_never_raised),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
