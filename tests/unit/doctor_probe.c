/* links: broker/cli/probe.c broker/cli/probe_network.c broker/cli/probe_namespaces.c shared/landlock_rights.c shared/text.c shared/profile.c shared/user_namespace_text.c */
/* What doctor makes of a machine's answers: kernels from 5.10 to 6.18, and hosts that forbid things. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "landlock.h"
#include "reach.h"
#include "text.h"
#include "user_namespace.h"

#include "ask.h"
#include "probe.h"

/* A machine.  Files: path, text, path, text, ... NULL. */
struct machine {
	const char *release;
	int abi, landlock_error;
	enum user_namespace namespaces;
	int namespace_error;
	const char *cgroup;
	int loopback; /* the errno */
	int without, without_error; /* a namespace of this kind: the errno */
	const char *files[12];
};

static const struct machine *machine;
static uid_t uid;
static struct probe probes[PROBES_MOST];

/* --- the questions, answered --- */

void
ask_release(char *text, size_t size)
{
	text_copy(text, size, machine->release);
}

bool
ask_file(const char *path, char *text, size_t size)
{
	text[0] = '\0';
	for (size_t i = 0; machine->files[i]; i += 2)
		if (strcmp(machine->files[i], path) == 0)
			return text_copy(text, size, machine->files[i + 1]);
	return false;
}

int
ask_landlock_error(void)
{
	return machine->landlock_error;
}

enum user_namespace
user_namespace_try(int *error)
{
	*error = machine->namespace_error;
	return machine->namespaces;
}

int
ask_namespace(int kind)
{
	return kind & machine->without ? machine->without_error : 0;
}

int
ask_loopback(void)
{
	return machine->loopback;
}

const char *
ask_cgroup_root(void)
{
	return machine->cgroup;
}

int
landlock_abi(void)
{
	return machine->abi;
}

bool
reach_program(const char *name, char *path, size_t size)
{
	(void)name;
	return text_copy(path, size, "/here");
}

uid_t
geteuid(void)
{
	return uid;
}

/* --- looking at what comes of them --- */

static const struct probe *
look(const struct machine *its, uid_t as, const char *name)
{
	size_t count;

	machine = its;
	uid = as;
	count = probe_machine(probes);
	for (size_t i = 0; i < count; i++)
		if (strcmp(probes[i].name, name) == 0)
			return &probes[i];
	fail_msg("no probe %s", name);
	return NULL;
}

static void
expect(const struct machine *its, uid_t as, const char *name, enum probe_state state, const char *found,
    const char *remedy)
{
	const struct probe *probe = look(its, as, name);

	if (probe->state != state || !strstr(probe->found, found) || !strstr(probe->remedy, remedy))
		fail_msg("%s: state %d, \"%s\", remedy \"%s\"", name, probe->state, probe->found, probe->remedy);
	/* Whatever is wrong has a remedy, and no remedy takes a protection of the host away. */
	for (size_t i = 0; i < PROBES_MOST && probes[i].name; i++) {
		assert_true((probes[i].state == PROBE_OK) == (probes[i].remedy[0] == '\0'));
		assert_null(strstr(probes[i].remedy, "userns=0"));
		assert_null(strstr(probes[i].remedy, "userns_clone=1"));
		assert_null(strstr(probes[i].remedy, "setenforce"));
		assert_null(strstr(probes[i].remedy, "permissive"));
	}
}

#define ACTIONS "/proc/sys/kernel/seccomp/actions_avail", "kill_process kill_thread errno allow\n"
#define CONTROLLERS "/sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory pids\n"
#define GOOD .release = "6.18.0", .abi = 7, .cgroup = "/sys/fs/cgroup"

static void
a_good_machine_has_nothing_to_do(void **state)
{
	static const struct machine good = { GOOD, .files = { ACTIONS, CONTROLLERS } };
	size_t count;

	(void)state;
	machine = &good;
	uid = 0;
	count = probe_machine(probes);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(probes[i].state, PROBE_OK);
	expect(&good, 1000, "account", PROBE_LESS, "uid 1000", "apart");
}

static void
kernels_below_the_floor_are_refused(void **state)
{
	static const struct { const char *release; enum probe_state state; } rows[] = {
		{ "5.10.0-9-amd64", PROBE_MISSING }, { "5.13.19", PROBE_MISSING }, { "4.18.0-553.el8", PROBE_MISSING },
		{ "5.14.0-503.el9", PROBE_OK }, { "5.15.0-25-generic", PROBE_OK }, { "6.1.0-18-amd64", PROBE_OK },
		{ "6.18.1", PROBE_OK }, { "10.0", PROBE_OK }, { "", PROBE_MISSING },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct machine its = { GOOD, .files = { ACTIONS, CONTROLLERS } };

		its.release = rows[i].release;
		expect(&its, 0, "kernel", rows[i].state, rows[i].release, rows[i].state ? "5.14" : "");
	}
}

static void
each_landlock_abi_says_what_it_lacks(void **state)
{
	static const struct {
		int abi;
		enum probe_state state;
		const char *found, *remedy;
	} rows[] = {
		{ 1, PROBE_LESS, "without: moves between directories, truncate, tcp, ioctl on devices, signals and "
		    "sockets; refused profiles: strict default agent", "5.19" },
		{ 2, PROBE_LESS, "without: truncate, tcp, ioctl on devices, signals and sockets; refused profiles: strict",
		    "6.12" },
		{ 3, PROBE_LESS, "without: tcp, ioctl on devices, signals and sockets; refused profiles: strict", "6.12" },
		{ 4, PROBE_LESS, "without: ioctl on devices, signals and sockets; refused profiles: strict", "6.12" },
		{ 5, PROBE_LESS, "without: signals and sockets; refused profiles: strict", "6.12" },
		{ 6, PROBE_OK, "ABI 6", "" }, { 7, PROBE_OK, "ABI 7", "" }, { 8, PROBE_OK, "ABI 8", "" },
		{ 9, PROBE_OK, "ABI 9", "" },
	};
	struct machine its = { GOOD, .files = { ACTIONS, CONTROLLERS } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		its.abi = rows[i].abi;
		expect(&its, 0, "landlock", rows[i].state, rows[i].found, rows[i].remedy);
	}
	its.abi = 0;
	its.landlock_error = EOPNOTSUPP;
	expect(&its, 0, "landlock", PROBE_MISSING, "not switched on", "lsm=");
	its.landlock_error = ENOSYS;
	expect(&its, 0, "landlock", PROBE_MISSING, "not in this kernel", "5.14");
}

static void
each_network_says_what_it_needs(void **state)
{
	(void)state;
	for (int abi = 0; abi <= 10; abi++) {
		struct machine its = { GOOD, .files = { ACTIONS, CONTROLLERS } };

		its.abi = abi;
		expect(&its, 0, "network_tcp_ports", abi < 6 ? PROBE_LESS : PROBE_OK, abi < 6 ? "6 is needed" : "can be given",
		    abi < 6 ? "Linux 6.12" : "");
		expect(&its, 0, "network_loopback", PROBE_OK, "can be given", "");
		its.loopback = EPERM;
		expect(&its, 1000, "network_loopback", PROBE_LESS, strerror(EPERM), "agent");
	}
}

static void
no_filter_means_nothing_runs(void **state)
{
	static const struct machine none = { GOOD, .files = { CONTROLLERS } };
	static const struct machine old = { GOOD, .files = { CONTROLLERS, "/proc/sys/kernel/seccomp/actions_avail",
	    "kill trap errno trace allow\n" } };

	(void)state;
	expect(&none, 0, "seccomp", PROBE_MISSING, "no filter", "CONFIG_SECCOMP_FILTER");
	expect(&old, 0, "seccomp", PROBE_MISSING, "no filter", "CONFIG_SECCOMP_FILTER");
}

static void
who_forbids_user_namespaces_is_named(void **state)
{
	static const struct machine debian = { GOOD, .namespaces = USER_NAMESPACE_REFUSED, .namespace_error = EPERM,
	    .files = { ACTIONS, CONTROLLERS, "/proc/sys/kernel/unprivileged_userns_clone", "0\n" } };
	static const struct machine ubuntu = { GOOD, .namespaces = USER_NAMESPACE_EMPTY,
	    .files = { ACTIONS, CONTROLLERS, "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n" } };
	static const struct machine allowed = { GOOD,
	    .files = { ACTIONS, CONTROLLERS, "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n" } };
	static const struct machine none = { GOOD, .namespaces = USER_NAMESPACE_REFUSED, .namespace_error = ENOSPC,
	    .files = { ACTIONS, CONTROLLERS, "/proc/sys/user/max_user_namespaces", "0\n" } };
	static const struct machine selinux = { GOOD, .namespaces = USER_NAMESPACE_REFUSED, .namespace_error = EACCES,
	    .files = { ACTIONS, CONTROLLERS, "/sys/fs/selinux/enforce", "1" } };
	static const struct machine used_up = { GOOD, .namespaces = USER_NAMESPACE_REFUSED, .namespace_error = ENOSPC,
	    .files = { ACTIONS, CONTROLLERS, "/proc/sys/user/max_user_namespaces", "63" } };
	static const struct machine container = { GOOD, .namespaces = USER_NAMESPACE_REFUSED, .namespace_error = EPERM,
	    .files = { ACTIONS, CONTROLLERS } };
	static const struct machine killed = { GOOD, .namespaces = USER_NAMESPACE_KILLED,
	    .files = { ACTIONS, CONTROLLERS } };

	(void)state;
	expect(&debian, 1000, "user_namespace", PROBE_MISSING, "not permitted", "or the system service");
	expect(&debian, 1000, "unprivileged_userns_clone", PROBE_MISSING, "0", "system service");
	expect(&debian, 0, "unprivileged_userns_clone", PROBE_OK, "0", "");
	expect(&ubuntu, 1000, "user_namespace", PROBE_MISSING, "no capability", "AppArmor");
	expect(&ubuntu, 1000, "user_namespace", PROBE_MISSING, "no capability", "or the system service");
	expect(&ubuntu, 1000, "apparmor_restrict_userns", PROBE_MISSING, "1", "/etc/apparmor.d/agent-safe");
	expect(&ubuntu, 0, "apparmor_restrict_userns", PROBE_OK, "1", "");
	expect(&allowed, 1000, "apparmor_restrict_userns", PROBE_OK, "allowed for this program", "");
	expect(&none, 0, "user_namespace", PROBE_MISSING, "No space", "max_user_namespaces");
	expect(&none, 0, "max_user_namespaces", PROBE_MISSING, "0", "max_user_namespaces=64");
	expect(&used_up, 1000, "user_namespace", PROBE_MISSING, "No space", "max_user_namespaces");
	expect(&used_up, 1000, "max_user_namespaces", PROBE_MISSING, "63 here, and all of them are in use", "lsns");
	expect(&debian, 1000, "max_user_namespaces", PROBE_OK, "not on this kernel", "");
	expect(&selinux, 1000, "user_namespace", PROBE_MISSING, "Permission denied", "the lines selinux");
	expect(&selinux, 1000, "selinux", PROBE_MISSING, "enforcing", "user_namespace { create }");
	expect(&selinux, 0, "selinux", PROBE_OK, "enforcing", "");
	expect(&container, 1000, "user_namespace", PROBE_MISSING, "not permitted", "container");
	expect(&killed, 1000, "user_namespace", PROBE_MISSING, "killed", "container");
}

static void
a_kind_of_namespace_that_is_missing_is_named(void **state)
{
	static const struct machine limits = { GOOD, .files = { ACTIONS, CONTROLLERS },
	    .without = CLONE_NEWPID | CLONE_NEWNET, .without_error = ENOSPC };
	static const struct machine kernel = { GOOD, .files = { ACTIONS, CONTROLLERS },
	    .without = CLONE_NEWCGROUP, .without_error = EINVAL };
	static const struct machine nothing = { GOOD, .files = { ACTIONS, CONTROLLERS }, .without = ~0,
	    .without_error = ENOSPC };
	static const struct machine refused = { GOOD, .files = { ACTIONS, CONTROLLERS },
	    .namespaces = USER_NAMESPACE_REFUSED, .namespace_error = EPERM, .without = ~0, .without_error = EPERM };

	(void)state;
	expect(&limits, 1000, "other_namespaces", PROBE_MISSING, "pid: No space left on device; net: No space", "max_KIND");
	expect(&limits, 0, "other_namespaces", PROBE_MISSING, "pid: No space left on device; net: No space", "max_KIND");
	expect(&kernel, 0, "other_namespaces", PROBE_MISSING, "cgroup: Invalid argument", "CONFIG_NAMESPACES");
	expect(&nothing, 0, "other_namespaces", PROBE_MISSING, "mnt: No space left on device; pid", "max_KIND");
	expect(&refused, 1000, "other_namespaces", PROBE_LESS, "not to be seen", "user_namespace");
	expect(&refused, 0, "other_namespaces", PROBE_MISSING, "mnt: Operation not permitted", "container");
}

static void
a_missing_controller_says_who_has_it(void **state)
{
	static const struct machine beside = { .release = "6.1", .abi = 7, .cgroup = "/sys/fs/cgroup/unified", .files = { ACTIONS,
	    "/sys/fs/cgroup/unified/cgroup.controllers", "hugetlb\n",
	    "/proc/cgroups", "#subsys_name\thierarchy\tnum_cgroups\tenabled\nmemory\t4\t9\t1\npids\t0\t9\t1\ncpuset\t2\t9\t1\ncpu\t1\t9\t1\n" } };
	static const struct machine off = { GOOD, .files = { ACTIONS, "/sys/fs/cgroup/cgroup.controllers", "cpu\n",
	    "/proc/cgroups", "memory\t0\t9\t0\n" } };
	static const struct machine none = { .release = "6.1", .abi = 2, .files = { ACTIONS } };

	(void)state;
	expect(&beside, 0, "cgroup_memory", PROBE_LESS, "version 1 (hierarchy 4)", "cgroup_no_v1=memory");
	expect(&beside, 0, "cgroup_pids", PROBE_LESS, "not given to this place", "delegate pids");
	expect(&beside, 0, "cgroup_cpu", PROBE_LESS, "version 1 (hierarchy 1)", "cgroup_no_v1=cpu");
	expect(&off, 0, "cgroup_cpu", PROBE_OK, "in version 2", "");
	expect(&off, 0, "cgroup_memory", PROBE_LESS, "switched off at boot", "cgroup_enable=memory");
	expect(&off, 0, "cgroup_pids", PROBE_LESS, "not in this kernel", "controller pids");
	expect(&none, 0, "cgroup", PROBE_LESS, "no cgroup v2", "unified_cgroup_hierarchy");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_good_machine_has_nothing_to_do),
		cmocka_unit_test(kernels_below_the_floor_are_refused),
		cmocka_unit_test(each_landlock_abi_says_what_it_lacks),
		cmocka_unit_test(each_network_says_what_it_needs),
		cmocka_unit_test(no_filter_means_nothing_runs),
		cmocka_unit_test(who_forbids_user_namespaces_is_named),
		cmocka_unit_test(a_kind_of_namespace_that_is_missing_is_named),
		cmocka_unit_test(a_missing_controller_says_who_has_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
