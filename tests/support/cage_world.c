/* The scratch world around one executor. */
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/mount.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text.h"

#include "cage_world.h"

#define EXECUTOR_ID 2013400000u
#define BROKER_ID (EXECUTOR_ID + 1)
#define JOB_ID(slot) (EXECUTOR_ID + 10 + 2 * (slot))
#define INIT_ID(slot) (EXECUTOR_ID + 11 + 2 * (slot))
#define KEPT (1u << CAP_SYS_ADMIN | 1u << CAP_SETUID | 1u << CAP_SETGID | 1u << CAP_SETPCAP | \
	1u << CAP_KILL | (rig->network != NETWORK_NONE ? 1u << CAP_NET_ADMIN : 0))
#define NAMESPACES (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS)

void
cage_world_fail(const char *what)
{
	printf("# cage rig: %s: %s\n", what, strerror(errno));
	fflush(stdout);
	_exit(99);
}

static void
need(bool good, const char *what)
{
	if (!good)
		cage_world_fail(what);
}

static void
make(const struct cage_rig *rig, const char *name, mode_t mode, uid_t uid, gid_t gid)
{
	char path[LIMIT_PATH];

	need(text_format(path, sizeof(path), "%s/%s", rig->base, name), name);
	need((mkdir(path, 0700) == 0 || errno == EEXIST) && chown(path, uid, gid) == 0 &&
	    chmod(path, mode) == 0, path);
}

static void
put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	need(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), path);
	close(fd);
}

/* What lies beside the root, and in it. */
static const struct {
	const char *name;
	uint64_t flags;
} extras[] = {
	{ "read", ROOT_EXTRA_READ }, { "read/file", ROOT_EXTRA_READ }, { "write", ROOT_EXTRA_WRITE },
	{ "read/open", ROOT_EXTRA_WRITE }, { "ws/a/kept", ROOT_EXTRA_READ }, { "wfile", ROOT_EXTRA_WRITE },
};

#define EXTRAS (sizeof(extras) / sizeof(extras[0]))

static void
fill_extras(struct cage_rig *rig)
{
	for (size_t i = 0; i < EXTRAS; i++) {
		struct boot_root *root = &rig->boot.roots[rig->boot.root_count];

		root->index = rig->boot.root_count++;
		text_format(root->path, LIMIT_PATH, "%s/%s", rig->base, extras[i].name);
		root->flags = extras[i].flags;
		root->uid = root->gid = CAGE_RIG_OWNER;
	}
}

/* "read" is closed to all but its owner, below it everybody may look. */
static void
make_extras(struct cage_rig *rig)
{
	char script[4 * LIMIT_PATH];

	text_format(script, sizeof(script), "set -e; umask 022; cd %s; mkdir read read/open write ws/a ws/a/kept;"
	    "echo told >read/file; echo hidden >read/closed; chmod 600 read/closed; echo old >wfile;"
	    "echo kept >ws/a/kept/file; chown -R %u:%u read write wfile ws/a", rig->base, CAGE_RIG_OWNER,
	    CAGE_RIG_OWNER);
	need(cage_rig_shell(script) == 0, "places beside the root");
}

static void
fill_boot(struct cage_rig *rig)
{
	struct boot *boot = &rig->boot;

	boot->mode = rig->ordinary ? MODE_WORKSPACE_USER : MODE_WORKSPACE_ROOT;
	text_copy(boot->origin, sizeof(boot->origin), "rig/test");
	text_format(boot->state_dir, LIMIT_PATH, "%s/state", rig->base);
	text_format(boot->audit_dir, LIMIT_PATH, "%s/state/audit", rig->base);
	text_format(boot->runs_dir, LIMIT_PATH, "%s/runs", rig->base);
	text_format(boot->policy_path, LIMIT_PATH, "%s/agent-safe-policy.json", rig->workspace);
	text_format(boot->box_dir, LIMIT_PATH, "%s/box", rig->base);
	text_copy(boot->profile_floor, LIMIT_PROFILE, "default");
	boot->network = rig->network;
	boot->ports = rig->ports;
	boot->executor_uid = rig->ordinary ? CAGE_RIG_OWNER : EXECUTOR_ID;
	boot->broker_uid = boot->broker_gid = rig->ordinary ? CAGE_RIG_OWNER : BROKER_ID;
	boot->slot_count = CAGE_RIG_SLOTS;
	for (unsigned i = 0; i < CAGE_RIG_SLOTS; i++) {
		boot->slots[i].job = rig->ordinary ? CAGE_RIG_OWNER : JOB_ID(i);
		boot->slots[i].init = rig->ordinary ? CAGE_RIG_OWNER : INIT_ID(i);
	}
	boot->root_count = 1;
	text_copy(boot->roots[0].path, LIMIT_PATH, rig->workspace);
	boot->roots[0].uid = boot->roots[0].gid = CAGE_RIG_OWNER;
	if (rig->beside)
		fill_extras(rig);
}

/* A user namespace with this one line in its maps; its descriptor. */
static int
map_namespace(const char *line)
{
	char path[64], byte = 0;
	int to[2], fd;
	pid_t pid;

	need(pipe2(to, O_CLOEXEC) == 0, "pipe");
	pid = fork();
	need(pid >= 0, "fork");
	if (pid == 0) {
		if (unshare(CLONE_NEWUSER) < 0)
			_exit(1);
		if (write(to[1], "x", 1) == 1)
			pause();
		_exit(0);
	}
	need(read(to[0], &byte, 1) == 1, "namespace");
	text_format(path, sizeof(path), "/proc/%d/uid_map", pid);
	put(path, line);
	text_format(path, sizeof(path), "/proc/%d/gid_map", pid);
	put(path, line);
	text_format(path, sizeof(path), "/proc/%d/ns/user", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	need(fd >= 0, path);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(to[0]);
	close(to[1]);
	return fd;
}

/* The mount point of a root in the box: a directory, or a file for a file. */
static void
make_point(const struct cage_rig *rig, unsigned slot, unsigned root)
{
	char name[32], path[LIMIT_PATH];
	struct stat seen;
	int fd;

	text_format(name, sizeof(name), "box/idm/%u/%u", slot, root);
	need(stat(rig->boot.roots[root].path, &seen) == 0, rig->boot.roots[root].path);
	if (S_ISDIR(seen.st_mode)) {
		make(rig, name, 0755, 0, 0);
		return;
	}
	text_format(path, sizeof(path), "%s/%s", rig->base, name);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	need(fd >= 0, path);
	close(fd);
}

/* A root as the slot's job owns it; what is only read, as it is. */
static void
attach_root(const struct cage_rig *rig, unsigned slot, unsigned root)
{
	bool read = rig->boot.roots[root].flags & ROOT_EXTRA_READ;
	struct mount_attr attr = { .attr_set = (read ? MOUNT_ATTR_RDONLY : MOUNT_ATTR_IDMAP) |
		MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV };
	char line[64], path[LIMIT_PATH];
	int tree, space;

	text_format(line, sizeof(line), "%u %u 1", CAGE_RIG_OWNER, JOB_ID(slot));
	space = map_namespace(line);
	attr.userns_fd = (unsigned)space;
	tree = (int)syscall(SYS_open_tree, AT_FDCWD, rig->boot.roots[root].path, OPEN_TREE_CLONE |
	    OPEN_TREE_CLOEXEC);
	need(tree >= 0 && syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &attr,
	    sizeof(attr)) == 0, "idmap");
	make_point(rig, slot, root);
	text_format(path, sizeof(path), "%s/box/idm/%u/%u", rig->base, slot, root);
	need(syscall(SYS_move_mount, tree, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH) == 0, path);
	close(tree);
	close(space);
}

static void
make_box(const struct cage_rig *rig)
{
	char path[LIMIT_PATH], name[32];

	need(mount("tmpfs", rig->boot.box_dir, "tmpfs", MS_NOSUID | MS_NODEV,
	    "mode=755,size=1g") == 0, "box");
	make(rig, "box/idm", 0755, 0, 0);
	for (unsigned i = 0; i < CAGE_RIG_SLOTS; i++) {
		text_format(name, sizeof(name), "box/idm/%u", i);
		make(rig, name, 0755, 0, 0);
		for (unsigned root = 0; root < rig->boot.root_count; root++)
			attach_root(rig, i, root);
	}
	text_format(path, sizeof(path), "box/own");
	make(rig, path, 0755, EXECUTOR_ID, EXECUTOR_ID);
}

/* A delegated cgroup, where there is a v2 hierarchy. */
static void
make_cgroup(struct cage_rig *rig)
{
	static const char *const tops[] = { "/sys/fs/cgroup/unified", "/sys/fs/cgroup" };
	static const char *const files[] = { "cgroup.procs", "jobs", "jobs/cgroup.procs" };
	char path[LIMIT_PATH];

	for (size_t i = 0; i < 2 && !rig->cgroup[0]; i++) {
		text_format(path, sizeof(path), "%s/cgroup.controllers", tops[i]);
		if (access(path, F_OK) == 0)
			text_format(rig->cgroup, LIMIT_PATH, "%s/agent-safe-rig-%d", tops[i],
			    getpid());
	}
	if (!rig->cgroup[0] || mkdir(rig->cgroup, 0755) < 0) {
		rig->cgroup[0] = '\0';
		return;
	}
	text_format(path, sizeof(path), "%s/daemons", rig->cgroup);
	need(mkdir(path, 0755) == 0, path);
	text_format(path, sizeof(path), "%s/jobs", rig->cgroup);
	need(mkdir(path, 0755) == 0, path);
	for (size_t i = 0; i < 3; i++) {
		text_format(path, sizeof(path), "%s/%s", rig->cgroup, files[i]);
		need(chown(path, rig->boot.executor_uid, rig->boot.executor_uid) == 0, path);
	}
}

/* As launch does it (state.c there): a hint to the filesystem. */
static void
spread_runs(const struct cage_rig *rig)
{
	int flags, fd = open(rig->boot.runs_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0 && ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0) {
		flags |= FS_TOPDIR_FL;
		ioctl(fd, FS_IOC_SETFLAGS, &flags);
	}
	close(fd);
}

void
cage_world_make(struct cage_rig *rig)
{
	char name[32];

	need(unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0,
	    "mount namespace");
	text_copy(rig->base, LIMIT_PATH, "/tmp/cage-rig.XXXXXX");
	need(mkdtemp(rig->base) && chmod(rig->base, 0711) == 0, rig->base);
	text_format(rig->workspace, LIMIT_PATH, "%s/ws", rig->base);
	fill_boot(rig);
	/* Closed to everybody but its owner: the executor gets in by the idmapped mount alone. */
	make(rig, "ws", 0700, CAGE_RIG_OWNER, CAGE_RIG_OWNER);
	cage_rig_write(rig, "agent-safe-policy.json", "{}\n", 0644);
	if (rig->beside)
		make_extras(rig);
	make(rig, "runs", 0710, rig->boot.executor_uid, rig->boot.broker_gid);
	spread_runs(rig);
	for (unsigned i = 0; i < CAGE_RIG_SLOTS; i++) {
		text_format(name, sizeof(name), "runs/%u", i);
		make(rig, name, 02750, rig->boot.slots[i].init, rig->boot.broker_gid);
	}
	make(rig, "box", 0755, rig->ordinary ? CAGE_RIG_OWNER : 0, 0);
	if (!rig->ordinary)
		make_box(rig);
	make_cgroup(rig);
}

static void
write_maps(const struct cage_rig *rig, pid_t pid)
{
	char path[64], lines[512];
	int at = snprintf(lines, sizeof(lines), "%u %u 1\n", EXECUTOR_ID, EXECUTOR_ID);

	(void)rig;
	for (unsigned i = 0; i < CAGE_RIG_SLOTS; i++)
		at += snprintf(lines + at, sizeof(lines) - (size_t)at, "%u %u 2\n", JOB_ID(i),
		    JOB_ID(i));
	text_format(path, sizeof(path), "/proc/%d/uid_map", pid);
	put(path, lines);
	text_format(path, sizeof(path), "/proc/%d/gid_map", pid);
	put(path, lines);
}

/* The executor's uid with these few capabilities, in the namespace that we just entered. */
static void
become_executor(const struct cage_rig *rig)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { KEPT, KEPT, KEPT }, { 0, 0, 0 } };

	put("/proc/sys/user/max_user_namespaces", "0");
	need(prctl(PR_SET_KEEPCAPS, 1) == 0 && setgroups(0, NULL) == 0 &&
	    setresgid(EXECUTOR_ID, EXECUTOR_ID, EXECUTOR_ID) == 0 &&
	    setresuid(EXECUTOR_ID, EXECUTOR_ID, EXECUTOR_ID) == 0, "executor's uid");
	need(syscall(SYS_capset, &header, data) == 0, "capset");
	for (int i = 0; i < 32; i++)
		if (KEPT >> i & 1)
			need(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, i, 0, 0) == 0, "ambient");
	for (int i = 0; prctl(PR_CAPBSET_READ, i) >= 0; i++)
		need(prctl(PR_CAPBSET_DROP, i) == 0, "bounding set");
}

static int
open_binary(const char *name)
{
	const char *build = getenv("BUILD_DIR");
	char path[LIMIT_PATH];
	int fd;

	text_format(path, sizeof(path), "%s/%s", build ? build : "build", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	need(fd >= 0, path);
	return fd;
}

static int
open_below(const struct cage_rig *rig, const char *directory, const char *name, int flags)
{
	char path[LIMIT_PATH];
	int fd;

	(void)rig;
	text_format(path, sizeof(path), "%s/%s", directory, name);
	fd = open(directory[0] ? path : "/dev/null", flags | O_CLOEXEC, 0644);
	need(fd >= 0, path);
	return fd;
}

static _Noreturn void
run_executor(const struct cage_rig *rig, int broker, int auditor, int ready, int go)
{
	int binary = open_binary("agent-safe-executor");
	int places[] = { boot_write(&rig->boot), broker, auditor,
		open_below(rig, rig->boot.runs_dir, "", O_PATH | O_DIRECTORY),
		open_binary("agent-safe-keeper"),
		    open_below(rig, rig->cgroup, "jobs", rig->cgroup[0] ? O_RDONLY |
		    O_DIRECTORY : O_RDWR),
		open_below(rig, rig->base, "lock", O_RDWR | O_CREAT) };
	int words = open_below(rig, rig->base, "log", O_WRONLY | O_CREAT | O_APPEND);
	char byte, *const argv[] = { (char[]){ "agent-safe-executor" }, NULL },
	    *const envp[] = { NULL };
	char path[LIMIT_PATH];

	if (rig->cgroup[0]) {
		text_format(path, sizeof(path), "%s/daemons/cgroup.procs", rig->cgroup);
		put(path, "0");
	}
	if (rig->ordinary) {
		need(setgroups(0, NULL) == 0 &&
		    setresgid(CAGE_RIG_OWNER, CAGE_RIG_OWNER, CAGE_RIG_OWNER) == 0 &&
		    setresuid(CAGE_RIG_OWNER, CAGE_RIG_OWNER, CAGE_RIG_OWNER) == 0, "ordinary uid");
		prctl(PR_SET_DUMPABLE, 1);
	} else {
		need(unshare(NAMESPACES) == 0 && write(ready, "x", 1) == 1 &&
		    read(go, &byte, 1) == 1, "namespaces");
		become_executor(rig);
	}
	need((binary = fcntl(binary, F_DUPFD_CLOEXEC, 64)) >= 0 && dup2(words, 2) >= 0,
	    "descriptors");
	for (int i = 0; i < 7; i++)
		need((places[i] = fcntl(places[i], F_DUPFD_CLOEXEC, 64)) >= 0, "descriptors");
	for (int i = 0; i < 7; i++)
		need(dup2(places[i], BOOT_FD + i) >= 0, "descriptors");
	syscall(SYS_execveat, binary, "", argv, envp, AT_EMPTY_PATH);
	cage_world_fail("executor");
}

void
cage_world_start(struct cage_rig *rig, int broker, int auditor)
{
	int ready[2], go[2];
	char byte;

	need(pipe2(ready, O_CLOEXEC) == 0 && pipe2(go, O_CLOEXEC) == 0, "pipe");
	fflush(stdout);
	rig->executor = fork();
	need(rig->executor >= 0, "fork");
	if (rig->executor == 0) {
		close(ready[0]);
		close(go[1]);
		run_executor(rig, broker, auditor, ready[1], go[0]);
	}
	close(ready[1]);
	close(go[0]);
	close(broker);
	close(auditor);
	if (!rig->ordinary) {
		need(read(ready[0], &byte, 1) == 1, "executor's namespace");
		write_maps(rig, rig->executor);
		need(write(go[1], "x", 1) == 1, "go");
	}
	close(ready[0]);
	close(go[1]);
}

static int
run(const char *const argv[])
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		execv(argv[0], (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int
cage_rig_shell(const char *text)
{
	const char *const argv[] = { "/bin/sh", "-c", text, NULL };

	return run(argv);
}

void
cage_world_remove(struct cage_rig *rig)
{
	const char *const remove[] = { "/bin/rm", "-rf", "--one-file-system", rig->base, NULL };
	const char *const groups[] = { "/usr/bin/find", rig->cgroup, "-depth", "-type", "d",
		"-delete", NULL };
	char path[LIMIT_PATH];

	if (rig->cgroup[0]) {
		text_format(path, sizeof(path), "%s/cgroup.kill", rig->cgroup);
		put(path, "1");
		usleep(100000);
		run(groups);
	}
	if (!rig->ordinary)
		umount2(rig->boot.box_dir, MNT_DETACH);
	run(remove);
}
