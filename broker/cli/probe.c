/* What this kernel and this machine offer. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "landlock.h"
#include "profile.h"
#include "reach.h"
#include "text.h"
#include "user_namespace.h"

#include "ask.h"
#include "probe.h"
#include "probe_namespaces.h"
#include "probe_network.h"

static void
set(struct probe *probe, enum probe_state state, const char *found, const char *remedy)
{
	probe->state = state;
	text_copy(probe->found, sizeof(probe->found), found);
	text_copy(probe->remedy, sizeof(probe->remedy), state == PROBE_OK ? "" : remedy);
}

/* Its first line. */
static bool
read_line(const char *path, char *text, size_t size)
{
	bool there = ask_file(path, text, size);

	text[strcspn(text, "\n")] = '\0';
	return there;
}

/* Kernels from 5.14 are supported. */
static void
probe_kernel(struct probe *probe)
{
	char release[128];
	unsigned major = 0, minor = 0;

	ask_release(release, sizeof(release));
	sscanf(release, "%u.%u", &major, &minor);
	set(probe, major > 5 || (major == 5 && minor >= 14) ? PROBE_OK : PROBE_MISSING, release,
	    "a kernel from 5.14 on is needed (cgroup.kill, idmapped mounts)");
}

/* A kernel that has it and did not start it says so by errno. */
static const char *
none_of_landlock(void)
{
	int error = ask_landlock_error();

	return error == EOPNOTSUPP ? "in the kernel, but not switched on at boot" :
	    error == ENOSYS ? "not in this kernel" : strerror(error);
}

/* The profiles whose floor this is below: " strict default"; "" when there are none. */
static void
name_refused(unsigned abi, char *text, size_t size)
{
	text[0] = '\0';
	for (unsigned i = PROFILE_STRICT; i < PROFILE_COUNT; i++) {
		size_t length = strlen(text);

		if (abi < profile_row((enum profile)i)->landlock_floor &&
		    !text_format(text + length, size - length, " %s", profile_row((enum profile)i)->name))
			return;
	}
}

/* Each profile has its floor; each later ABI closes something more. */
static void
probe_landlock(struct probe *probe)
{
	int abi = landlock_abi();
	char found[190], refused[64];

	name_refused((unsigned)abi, refused, sizeof(refused));
	if (abi == 0)
		set(probe, PROBE_MISSING, none_of_landlock(), "Linux 5.14 or later with landlock among the lsm= of "
		    "the kernel command line (see /sys/kernel/security/lsm)");
	else if (abi < 6) {
		text_format(found, sizeof(found), "ABI %d, without:%s%s%s%s signals and sockets; refused "
		    "profiles:%s", abi, abi < 2 ? " moves between directories," : "",
		    abi < 3 ? " truncate," : "", abi < 4 ? " tcp," : "", abi < 5 ? " ioctl on devices," : "",
		    refused[0] ? refused : " none");
		set(probe, PROBE_LESS, found, abi < 2 ? "Linux 5.19 or later for the profile default, 6.12 for "
		    "all; until then only a policy that names the profile compat runs anything" :
		    "Linux 6.12 or later has all that the profile default wants of Landlock; until then mounts, "
		    "namespaces and the system call filter do that alone");
	} else {
		text_format(found, sizeof(found), "ABI %d", abi);
		set(probe, PROBE_OK, found, "");
	}
}

static void
probe_seccomp(struct probe *probe)
{
	char actions[256];

	if (!read_line("/proc/sys/kernel/seccomp/actions_avail", actions, sizeof(actions)) ||
	    !strstr(actions, "kill_process"))
		set(probe, PROBE_MISSING, "no filter", "a kernel with CONFIG_SECCOMP_FILTER");
	else
		set(probe, PROBE_OK, actions, "");
}

/*
 * What an ordinary account's workspace takes and a smaller cage cannot stand in for (SECURITY.md, "No cage without
 * a user namespace").  How it is refused decides where to look, and what is left to do without changing the host.
 */
#define OTHER_WAYS "a workspace that root starts, or the system service, needs none of this account's"

static const char *
remedy_of_namespace(enum user_namespace answer, int error)
{
	if (answer == USER_NAMESPACE_EMPTY)
		return "the line apparmor_restrict_userns says why: agent-safe's AppArmor profile; or " OTHER_WAYS;
	if (answer == USER_NAMESPACE_KILLED)
		return "a system call filter around this account forbids it: in a container unshare and clone with "
		    "CLONE_NEWUSER must be allowed from outside";
	if (error == ENOSPC)
		return "the line max_user_namespaces says why: there root needs one, too";
	if (error == EACCES)
		return "an LSM forbids it: the lines selinux and apparmor_restrict_userns say which; or " OTHER_WAYS;
	return "the next lines say why; when they do not, a system call filter or a chroot forbids it: in a container "
	    "unshare and clone with CLONE_NEWUSER must be allowed from outside; or " OTHER_WAYS;
}

/* Make one and end: the only answer that counts. */
static void
probe_user_namespace(struct probe *probe, enum user_namespace answer, int error)
{
	set(probe, answer == USER_NAMESPACE_WORKS ? PROBE_OK : PROBE_MISSING, user_namespace_text(answer, error),
	    remedy_of_namespace(answer, error));
}

/* Only an ordinary account is stopped by these: root's launch and the system service make theirs as root. */
static enum probe_state
state_without_root(void)
{
	return geteuid() == 0 ? PROBE_OK : PROBE_MISSING;
}

/* Debian's and Arch's switch. */
static void
probe_clone(struct probe *probe)
{
	char value[64];

	if (!read_line("/proc/sys/kernel/unprivileged_userns_clone", value, sizeof(value)))
		set(probe, PROBE_OK, "not on this kernel", "");
	else if (strcmp(value, "0") != 0)
		set(probe, PROBE_OK, value, "");
	else
		set(probe, state_without_root(), "0: for root alone", "a workspace that root starts, or the system "
		    "service: neither needs what this host forbids to ordinary accounts");
}

/* Ubuntu's.  A profile that names our programs may have the right; whoever has it sees no restriction. */
static void
probe_apparmor(struct probe *probe, enum probe_state namespaces)
{
	char value[64];

	if (!read_line("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", value, sizeof(value)))
		set(probe, PROBE_OK, "not on this kernel", "");
	else if (strcmp(value, "1") != 0)
		set(probe, PROBE_OK, value, "");
	else if (namespaces == PROBE_OK)
		set(probe, PROBE_OK, "1, and allowed for this program", "");
	else
		set(probe, state_without_root(), "1: for programs whose profile allows userns",
		    "load the profile that comes with agent-safe: apparmor_parser -r /etc/apparmor.d/agent-safe; or a "
		    "workspace that root starts, or the system service. The restriction itself can stay as it is");
}

/*
 * Nothing runs at 0, for root neither: also the executor of root's trio lives in one.  The number is that of the
 * namespace we are in; those around it (a container's) have numbers of their own, which only ENOSPC shows.
 */
static void
probe_count(struct probe *probe, int error)
{
	char value[64], found[128];

	if (!read_line("/proc/sys/user/max_user_namespaces", value, sizeof(value)))
		set(probe, PROBE_OK, "not on this kernel", "");
	else if (strcmp(value, "0") == 0)
		set(probe, PROBE_MISSING, value, "sysctl user.max_user_namespaces=64 leaves room for what agent-safe "
		    "makes: one for each trio that root starts, five for each of an ordinary account");
	else if (error != ENOSPC)
		set(probe, PROBE_OK, value, "");
	else {
		text_format(found, sizeof(found), "%s here, and all of them are in use or the container has fewer",
		    value);
		set(probe, PROBE_MISSING, found, "end what holds them (lsns -t user), or raise "
		    "user.max_user_namespaces where the number is too small: on the host, when this is a container");
	}
}

/* SELinux asks since Linux 6.1 whether a domain may make one (user_namespace create). */
static void
probe_selinux(struct probe *probe, enum probe_state namespaces)
{
	char value[16];

	if (!read_line("/sys/fs/selinux/enforce", value, sizeof(value)))
		set(probe, PROBE_OK, "not in force", "");
	else if (strcmp(value, "1") != 0 || namespaces == PROBE_OK)
		set(probe, PROBE_OK, strcmp(value, "1") != 0 ? "permissive" : "enforcing, and allows namespaces", "");
	else
		set(probe, state_without_root(), "enforcing", "a policy module that allows this account's domain "
		    "user_namespace { create } (ausearch -m avc -ts recent names the domain); or a workspace that root "
		    "starts, or the system service");
}

static void
probe_cgroup(struct probe *probe)
{
	const char *root = ask_cgroup_root();
	char path[128], controllers[256], found[200];

	if (!root) {
		set(probe, PROBE_LESS, "no cgroup v2", "mount it (systemd.unified_cgroup_hierarchy=1): without it "
		    "jobs are ended by their process namespace alone, without limits on memory and processes");
		return;
	}
	text_format(path, sizeof(path), "%s/cgroup.controllers", root);
	read_line(path, controllers, sizeof(controllers));
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
	char text[4096], name[64];
	unsigned groups;

	if (!ask_file("/proc/cgroups", text, sizeof(text)))
		return false;
	for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n')
		if (sscanf(at, "%63s %u %u %u", name, hierarchy, &groups, enabled) == 4 && strcmp(name, wanted) == 0)
			return true;
	return false;
}

/* A controller by name: in version 2, or who has it instead.  The list of version 2 decides. */
static void
probe_controller(struct probe *probe, const char *name)
{
	const char *root = ask_cgroup_root();
	char path[128], controllers[256] = "", found[200], remedy[300];
	unsigned hierarchy = 0, enabled = 0;

	if (root && text_format(path, sizeof(path), "%s/cgroup.controllers", root))
		read_line(path, controllers, sizeof(controllers));
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
		"unprivileged_userns_clone", "apparmor_restrict_userns", "selinux", "max_user_namespaces",
		"other_namespaces", "cgroup", "cgroup_memory", "cgroup_pids", "cgroup_cpu", "programs", "account",
		"network_loopback", "network_tcp_ports" };
	int error;
	enum user_namespace answer = user_namespace_try(&error);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		probes[i] = (struct probe){ .name = names[i] };
	probe_kernel(&probes[0]);
	probe_landlock(&probes[1]);
	probe_seccomp(&probes[2]);
	probe_user_namespace(&probes[3], answer, error);
	probe_clone(&probes[4]);
	probe_apparmor(&probes[5], probes[3].state);
	probe_selinux(&probes[6], probes[3].state);
	probe_count(&probes[7], error);
	probe_other_namespaces(&probes[8], answer);
	probe_cgroup(&probes[9]);
	probe_controller(&probes[10], "memory");
	probe_controller(&probes[11], "pids");
	probe_controller(&probes[12], "cpu");
	probe_programs(&probes[13]);
	probe_account(&probes[14]);
	probe_network_loopback(&probes[15]);
	probe_network_ports(&probes[16]);
	return sizeof(names) / sizeof(*names);
}
