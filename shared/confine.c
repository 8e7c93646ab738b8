/* What a process gives up for ever.  Every measure is read back; fatal() when it does not hold. */
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "confine.h"
#include "landlock.h"
#include "log.h"
#include "scope.h"
#include "text.h"

#define TCP (LL_NET_BIND_TCP | LL_NET_CONNECT_TCP)

/* The capability sets of this process as bits; the bounding set is read with bounding_set(). */
struct sets {
	uint64_t effective, permitted, inheritable;
};

static uint64_t
bit(int number)
{
	return 1ull << number;
}

static void
read_sets(struct sets *sets)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };

	if (syscall(SYS_capget, &header, data) < 0)
		fatal("confine: capget: %s", strerror(errno));
	sets->effective = (uint64_t)data[1].effective << 32 | data[0].effective;
	sets->permitted = (uint64_t)data[1].permitted << 32 | data[0].permitted;
	sets->inheritable = (uint64_t)data[1].inheritable << 32 | data[0].inheritable;
}

/* Permitted and effective become `keep`, inheritable becomes empty. */
static void
write_sets(uint64_t keep)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	uint32_t low = (uint32_t)keep, high = (uint32_t)(keep >> 32);
	struct __user_cap_data_struct data[2] = {
		{ .effective = low, .permitted = low },
		{ .effective = high, .permitted = high },
	};

	if (syscall(SYS_capset, &header, data) < 0)
		fatal("confine: capset: %s", strerror(errno));
}

/*
 * The kernel's answer for capability `number`, -1 beyond its last one.  The
 * running kernel decides which is the last: a header may be older.
 */
static int
in_bounding_set(int number)
{
	int answer = prctl(PR_CAPBSET_READ, number, 0, 0, 0);

	if (answer < 0 && errno != EINVAL)
		fatal("confine: PR_CAPBSET_READ %d: %s", number, strerror(errno));
	return answer;
}

static bool
bounding_set_is_empty(void)
{
	int answer;

	for (int number = 0; (answer = in_bounding_set(number)) >= 0; number++)
		if (answer)
			return false;
	return true;
}

static void
drop_bounding_set(void)
{
	for (int number = 0; in_bounding_set(number) >= 0; number++)
		if (in_bounding_set(number) > 0 && prctl(PR_CAPBSET_DROP, number, 0, 0, 0) < 0)
			fatal("confine: PR_CAPBSET_DROP %d: %s", number, strerror(errno));
	if (!bounding_set_is_empty())
		fatal("confine: the bounding set did not become empty");
}

static void
clear_ambient_set(void)
{
	int set = 0;

	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		fatal("confine: PR_CAP_AMBIENT_CLEAR_ALL: %s", strerror(errno));
	for (int number = 0; set == 0; number++) {
		set = prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, number, 0, 0);
		if (set > 0 || (set < 0 && (errno != EINVAL || number == 0)))
			fatal("confine: ambient capability %d is still set", number);
	}
}

static void
write_map(int self_fd, const char *name, const char *text)
{
	scoped_close int fd = openat(self_fd, name, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		fatal("confine: /proc/self/%s: %s", name, strerror(errno));
}

/*
 * A user namespace whose only uid and gid are our own: in it an ordinary user
 * may drop the bounding set.  Must happen while the process is still dumpable,
 * or the map files would belong to root.
 */
static void
enter_own_namespace(void)
{
	scoped_close int self_fd = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char uid_map[64], gid_map[64];

	if (self_fd < 0)
		fatal("confine: /proc/self: %s", strerror(errno));
	if (!text_format(uid_map, sizeof(uid_map), "%u %u 1\n", geteuid(), geteuid()) ||
	    !text_format(gid_map, sizeof(gid_map), "%u %u 1\n", getegid(), getegid()))
		fatal("confine: the id map does not fit");
	if (unshare(CLONE_NEWUSER) < 0)
		fatal("confine: no user namespace of our own: %s (see `agent-safe doctor`)", strerror(errno));
	write_map(self_fd, "setgroups", "deny");
	write_map(self_fd, "uid_map", uid_map);
	write_map(self_fd, "gid_map", gid_map);
}

/* A user namespace that an ordinary user made: nobody in it can change groups, whatever capabilities he has there. */
static bool
groups_are_fixed(void)
{
	scoped_close int fd = open("/proc/self/setgroups", O_RDONLY | O_CLOEXEC);
	char text[8];

	return fd >= 0 && read(fd, text, sizeof(text)) >= 4 && memcmp(text, "deny", 4) == 0;
}

/* Whoever may empties its list of groups; an ordinary user keeps his, and each result says so. */
static void
drop_groups(const struct sets *sets)
{
	if (!(sets->effective & bit(CAP_SETGID)) || getgroups(0, NULL) == 0 || groups_are_fixed())
		return;
	if (setgroups(0, NULL) < 0)
		fatal("confine: setgroups: %s", strerror(errno));
	if (getgroups(0, NULL) != 0)
		fatal("confine: supplementary groups are still there");
}

static void
forbid_new_privileges(void)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		fatal("confine: PR_SET_NO_NEW_PRIVS: %s", strerror(errno));
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		fatal("confine: no_new_privs did not hold");
}

static void
forbid_dumps(void)
{
	confine_limit(RLIMIT_CORE, 0);
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		fatal("confine: PR_SET_DUMPABLE: %s", strerror(errno));
	if (prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0)
		fatal("confine: the process is still dumpable");
}

void
confine_privileges(uint64_t keep)
{
	struct sets sets;
	bool empty;

	forbid_new_privileges();
	read_sets(&sets);
	drop_groups(&sets);
	empty = bounding_set_is_empty();
	if (!(empty || (sets.effective & bit(CAP_SETPCAP))) || (keep & ~sets.permitted)) {
		enter_own_namespace();
		empty = false; /* it is full in there */
	}
	if (!empty)
		drop_bounding_set();
	clear_ambient_set();
	write_sets(keep);
	read_sets(&sets);
	if (sets.effective != keep || sets.permitted != keep || sets.inheritable != 0)
		fatal("confine: capabilities are permitted %llx effective %llx inheritable %llx, not %llx",
		    (unsigned long long)sets.permitted, (unsigned long long)sets.effective,
		    (unsigned long long)sets.inheritable, (unsigned long long)keep);

	/* Last: until here the maps had to be written, and a change of capabilities resets it. */
	forbid_dumps();
}

void
confine_limit(int resource, uint64_t value)
{
	struct rlimit now = { 0 }, want, after = { RLIM_INFINITY, RLIM_INFINITY };

	if (getrlimit((__rlimit_resource_t)resource, &now) < 0)
		fatal("confine: getrlimit %d: %s", resource, strerror(errno));
	want.rlim_max = now.rlim_max < value ? now.rlim_max : value;
	want.rlim_cur = now.rlim_cur < value ? now.rlim_cur : value;
	if (setrlimit((__rlimit_resource_t)resource, &want) < 0)
		fatal("confine: setrlimit %d: %s", resource, strerror(errno));
	if (getrlimit((__rlimit_resource_t)resource, &after) < 0 ||
	    after.rlim_max != want.rlim_max || after.rlim_cur != want.rlim_cur)
		fatal("confine: limit %d did not hold", resource);
}

/* A rule for one file.  Rights that this kernel does not know are left out; no rights, no rule. */
static void
add_rule(int ruleset_fd, const struct confine_file *file, uint64_t handled)
{
	struct landlock_path path = { .allowed = file->rights & handled, .parent_fd = file->fd };

	if (path.allowed == 0)
		return;
	if (syscall(SYS_landlock_add_rule, ruleset_fd, LL_RULE_PATH, &path, 0) < 0)
		fatal("confine: landlock_add_rule for descriptor %d: %s", file->fd, strerror(errno));
}

/* Is it "/"?  Only a rule for "/" itself allows to list "/". */
static bool
is_root_directory(int fd)
{
	struct stat file, root;

	return fstat(fd, &file) == 0 && stat("/", &root) == 0 &&
	    file.st_dev == root.st_dev && file.st_ino == root.st_ino;
}

/* Landlock has no way to ask what holds.  So try: nobody whom we confine was given "/". */
static void
prove_files_are_closed(const struct confine_file *files, size_t count)
{
	int fd;

	for (size_t i = 0; i < count; i++)
		if (is_root_directory(files[i].fd) && (files[i].rights & LL_READ_DIR))
			return;
	fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 || errno != EACCES)
		fatal("confine: Landlock did not hold: \"/\" can still be listed");
}

static void
restrict_files(const struct confine_file *files, size_t count, unsigned floor, uint64_t scopes, uint64_t network)
{
	int abi = landlock_abi();
	struct landlock_attr attr = {
		.handled_fs = landlock_fs_rights(abi),
		.handled_net = network & landlock_net_rights(abi),
		.scoped = scopes & landlock_scopes(abi),
	};
	scoped_close int fd = -1;

	if (abi < 1 || (unsigned)abi < floor)
		fatal("confine: this kernel's Landlock ABI is %d, at least %u is needed", abi, floor);
	fd = (int)syscall(SYS_landlock_create_ruleset, &attr, landlock_attr_size(abi),
	    0);
	if (fd < 0)
		fatal("confine: landlock_create_ruleset: %s", strerror(errno));
	for (size_t i = 0; i < count; i++)
		add_rule(fd, &files[i], attr.handled_fs);
	if (syscall(SYS_landlock_restrict_self, fd, 0) < 0)
		fatal("confine: landlock_restrict_self: %s", strerror(errno));
	prove_files_are_closed(files, count);
}

void
confine_files(const struct confine_file *files, size_t count, unsigned floor)
{
	restrict_files(files, count, floor, LL_SCOPE_ABSTRACT_UNIX | LL_SCOPE_SIGNAL, TCP);
}

void
confine_files_but_signals(const struct confine_file *files, size_t count, unsigned floor)
{
	restrict_files(files, count, floor, LL_SCOPE_ABSTRACT_UNIX, TCP);
}

void
confine_files_but_network(const struct confine_file *files, size_t count, unsigned floor)
{
	restrict_files(files, count, floor, LL_SCOPE_ABSTRACT_UNIX | LL_SCOPE_SIGNAL, 0);
}
