/* What this kernel and this machine offer. */
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "landlock.h"
#include "scope.h"
#include "reach.h"
#include "text.h"

#include "probe.h"
#include "probe_cage.h"

static void
set(struct probe *probe, enum probe_state state, const char *found, const char *remedy)
{
	probe->state = state;
	text_copy(probe->found, sizeof(probe->found), found);
	text_copy(probe->remedy, sizeof(probe->remedy), state == PROBE_OK ? "" : remedy);
}

/* A small file of /proc or /sys without its newline; false when it is not there. */
static bool
read_small(const char *path, char *text, size_t size)
{
	scoped_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, text, size - 1);

	text[length > 0 ? length : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return length >= 0;
}

/* Kernels from 5.14 are supported. */
static void
probe_kernel(struct probe *probe)
{
	struct utsname name;
	unsigned major = 0, minor = 0;

	uname(&name);
	sscanf(name.release, "%u.%u", &major, &minor);
	set(probe, major > 5 || (major == 5 && minor >= 14) ? PROBE_OK : PROBE_MISSING, name.release,
	    "a kernel from 5.14 on is needed (cgroup.kill, idmapped mounts)");
}

/* A kernel that has it and did not start it says so by errno. */
static const char *
none_of_landlock(void)
{
	syscall(SYS_landlock_create_ruleset, NULL, 0, 1 /* LANDLOCK_CREATE_RULESET_VERSION */);
	return errno == EOPNOTSUPP ? "in the kernel, but not switched on at boot" :
	    errno == ENOSYS ? "not in this kernel" : strerror(errno);
}

/* Each profile has a floor of its own (probe_cage.c); each later ABI closes something more. */
static void
probe_landlock(struct probe *probe)
{
	int abi = landlock_abi();
	char found[128];

	text_format(found, sizeof(found), "ABI %d", abi);
	if (abi < 1)
		set(probe, PROBE_MISSING, none_of_landlock(), "Linux 5.19 or later with landlock "
		    "among the lsm= of the kernel command line (see /sys/kernel/security/lsm)");
	else if (abi < 6) {
		text_format(found, sizeof(found), "ABI %d, without:%s%s%s%s signals and sockets", abi,
		    abi < 2 ? " moves between directories," : "", abi < 3 ? " truncate," : "", abi < 4 ? " tcp," : "", abi < 5 ? " ioctl on devices," : "");
		set(probe, PROBE_LESS, found, "Linux 6.12 or later has all that the profile default wants of Landlock; "
		    "until then mounts, namespaces and the system call filter do that alone");
	} else
		set(probe, PROBE_OK, found, "");
}

static void
probe_seccomp(struct probe *probe)
{
	char actions[256];

	if (!read_small("/proc/sys/kernel/seccomp/actions_avail", actions, sizeof(actions)) ||
	    !strstr(actions, "kill_process"))
		set(probe, PROBE_MISSING, "no filter", "a kernel with CONFIG_SECCOMP_FILTER");
	else
		set(probe, PROBE_OK, actions, "");
}

/* Make one and end: the only answer that counts. */
static void
probe_user_namespace(struct probe *probe)
{
	pid_t child = fork();
	int status = 0;

	if (child == 0)
		_exit(unshare(CLONE_NEWUSER) == 0 ? 0 : errno & 0x7f);
	if (child < 0 || waitpid(child, &status, 0) < 0) {
		set(probe, PROBE_MISSING, strerror(errno), "a process could not be started at all");
		return;
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		set(probe, PROBE_OK, "can be made by this account", "");
	else
		set(probe, PROBE_MISSING, WIFEXITED(status) ? strerror(WEXITSTATUS(status)) : "killed",
		    "see the next lines; in a container they must be allowed from outside");
}

/* One sysctl that forbids user namespaces when it has a certain value; absent is fine. */
static void
probe_sysctl(struct probe *probe, const char *path, const char *bad, const char *remedy)
{
	char value[64], found[128];

	if (!read_small(path, value, sizeof(value))) {
		set(probe, PROBE_OK, "not on this kernel", "");
		return;
	}
	text_format(found, sizeof(found), "%s", value);
	set(probe, strcmp(value, bad) != 0 ? PROBE_OK : geteuid() == 0 ? PROBE_LESS : PROBE_MISSING, found, remedy);
}

/* Where cgroup v2 is: alone, or beside v1. */
static const char *
cgroup_root(void)
{
	static const char *const places[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	struct statfs about;

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (statfs(places[i], &about) == 0 && about.f_type == CGROUP2_SUPER_MAGIC)
			return places[i];
	return NULL;
}

static void
probe_cgroup(struct probe *probe)
{
	const char *root = cgroup_root();
	char path[128], controllers[256], found[200];

	if (!root) {
		set(probe, PROBE_LESS, "no cgroup v2", "mount it (systemd.unified_cgroup_hierarchy=1): without it "
		    "jobs are ended by their process namespace alone, without limits on memory and processes");
		return;
	}
	text_format(path, sizeof(path), "%s/cgroup.controllers", root);
	read_small(path, controllers, sizeof(controllers));
	text_format(found, sizeof(found), "v2 at %s, controllers: %.100s", root, controllers[0] ? controllers : "none");
	set(probe, PROBE_OK, found, "");
}

/* Is this word in a list with blanks or commas between? */
static bool
is_listed(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at += length)
		if ((at == list || at[-1] == ' ' || at[-1] == ',') &&
		    (at[length] == '\0' || at[length] == ' ' || at[length] == ','))
			return true;
	return false;
}

/* What /proc/cgroups (cgroups(7)) says of a controller; false when this kernel does not have it. */
static bool
find_controller(const char *wanted, unsigned *hierarchy, unsigned *enabled)
{
	FILE *file = fopen("/proc/cgroups", "re");
	char line[256], name[64];
	unsigned groups;
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file))
		found = sscanf(line, "%63s %u %u %u", name, hierarchy, &groups, enabled) == 4 &&
		    strcmp(name, wanted) == 0;
	if (file)
		fclose(file);
	return found;
}

/* A controller by name: in version 2, or who has it instead.  The list of version 2 decides. */
static void
probe_controller(struct probe *probe, const char *name)
{
	const char *root = cgroup_root();
	char path[128], controllers[256] = "", found[200], remedy[300];
	unsigned hierarchy = 0, enabled = 0;

	if (root && text_format(path, sizeof(path), "%s/cgroup.controllers", root))
		read_small(path, controllers, sizeof(controllers));
	if (is_listed(controllers, name)) {
		set(probe, PROBE_OK, "in version 2", "");
	} else if (!find_controller(name, &hierarchy, &enabled)) {
		text_format(remedy, sizeof(remedy), "a kernel with the controller %s", name);
		set(probe, PROBE_LESS, "not in this kernel, or not named in /proc/cgroups", remedy);
	} else if (!enabled) {
		text_format(remedy, sizeof(remedy), "cgroup_enable=%s on the kernel command line", name);
		set(probe, PROBE_LESS, "switched off at boot", remedy);
	} else if (hierarchy != 0) {
		text_format(found, sizeof(found), "held by cgroup version 1 (hierarchy %u)", hierarchy);
		text_format(remedy, sizeof(remedy), "cgroup_no_v1=%s on the kernel command line, or "
		    "systemd.unified_cgroup_hierarchy=1", name);
		set(probe, PROBE_LESS, found, remedy);
	} else {
		text_format(remedy, sizeof(remedy), "whoever made this cgroup or container must delegate %s", name);
		set(probe, PROBE_LESS, "in version 2, but not given to this place", remedy);
	}
}

/* Every program that a run needs. */
static void
probe_programs(struct probe *probe)
{
	static const char *const names[] = { "agent-safe-launch", "agent-safe-broker", "agent-safe-executor",
		"agent-safe-keeper", "agent-safe-auditor", "agent-safe-audit-verify", "agent-safe-mcp" };
	char path[4096], found[200] = "";
	size_t missing = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!reach_program(names[i], path, sizeof(path)) && missing++ == 0)
			text_format(found, sizeof(found), "%s is missing", names[i]);
	set(probe, missing == 0 ? PROBE_OK : PROBE_MISSING, missing == 0 ? "all here" : found,
	    "build all (make), or install the whole package");
}

/* Two uids separate proposing from deciding; one is a workflow gate only. */
static void
probe_account(struct probe *probe)
{
	char found[64];

	text_format(found, sizeof(found), "uid %u", (unsigned)geteuid());
	set(probe, geteuid() == 0 ? PROBE_OK : PROBE_LESS, found, "an ordinary account's workspace runs everything "
	    "under its own uid: an agent with that uid can decide too. The system service, or a workspace that root "
	    "started, keeps proposing and deciding apart");
}

size_t
probe_machine(struct probe probes[PROBES_MOST])
{
	static const char *const names[] = { "kernel", "landlock", "seccomp", "user_namespace",
		"unprivileged_userns_clone", "apparmor_restrict_userns", "max_user_namespaces", "cgroup",
		"cgroup_memory", "cgroup_pids", "programs", "account" };

	const size_t count = sizeof(names) / sizeof(*names);

	for (size_t i = 0; i < count; i++)
		probes[i] = (struct probe){ .name = names[i] };
	probe_kernel(&probes[0]);
	probe_landlock(&probes[1]);
	probe_seccomp(&probes[2]);
	probe_user_namespace(&probes[3]);
	probe_sysctl(&probes[4], "/proc/sys/kernel/unprivileged_userns_clone", "0",
	    "sysctl kernel.unprivileged_userns_clone=1, or start the workspace as root");
	probe_sysctl(&probes[5], "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1",
	    "an AppArmor profile for agent-safe that allows userns, or start the workspace as root");
	probe_sysctl(&probes[6], "/proc/sys/user/max_user_namespaces", "0", "sysctl user.max_user_namespaces=10000");
	probe_cgroup(&probes[7]);
	probe_controller(&probes[8], "memory");
	probe_controller(&probes[9], "pids");
	probe_programs(&probes[10]);
	probe_account(&probes[11]);
	for (size_t i = 0; i < PROBE_CAGES; i++)
		probes[count + i] = (struct probe){ .name = probe_cage_names[i] };
	probe_cages(&probes[count]);
	return count + PROBE_CAGES;
}
