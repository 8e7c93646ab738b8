/* Mounts, namespaces, privileges: 9-13, 31-40. */
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/keyctl.h>
#include <linux/sched.h>
#include <linux/securebits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe.h"

static int
mount_tmpfs(void)
{
	mkdir("probe-mount", 0755);
	return probe_told(mount("tmpfs", "probe-mount", "tmpfs", 0, NULL));
}

static int
mount_bind(void)
{
	mkdir("probe-mount", 0755);
	return probe_told(mount("/", "probe-mount", NULL, MS_BIND, NULL));
}

static int
remount_writable(void)
{
	return probe_told(mount(NULL, "/usr/bin", NULL, MS_REMOUNT | MS_BIND, NULL));
}

static int
unmount_proc(void)
{
	return probe_told(umount2("/proc", MNT_DETACH));
}

static int
clone_tree(void)
{
	return probe_told(syscall(SYS_open_tree, AT_FDCWD, "/", 1 /* OPEN_TREE_CLONE */));
}

static int
open_filesystem(void)
{
	return probe_told(syscall(SYS_fsopen, "tmpfs", 0));
}

static int
change_mount(void)
{
	struct { unsigned long long set, clear, propagation, namespace_fd; } attr = { .clear = 1 };

	return probe_told(syscall(SYS_mount_setattr, AT_FDCWD, "/usr/bin", 0, &attr, sizeof(attr)));
}

/* With arguments that nobody could obey: the call itself must not be known. */
static int
use_mount_calls(void)
{
	int result = probe_told(syscall(SYS_move_mount, -1, "", -1, "", 0));

	result = result == ENOSYS ? probe_told(syscall(SYS_fsconfig, -1, 0, NULL, NULL, 0)) : result;
	result = result == ENOSYS ? probe_told(syscall(SYS_fsmount, -1, 0, 0)) : result;
	return result == ENOSYS ? probe_told(syscall(SYS_fspick, -1, "", 0)) : result;
}

static int
change_root(void)
{
	mkdir("probe-root", 0755);
	return probe_told(chroot("probe-root"));
}

/* The old way out: keep a descriptor above the new root. */
static int
break_chroot(void)
{
	int above = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int result = change_root();

	return result == WORKED ? probe_told(fchdir(above)) : result;
}

static int
pivot(void)
{
	return probe_told(syscall(SYS_pivot_root, ".", "."));
}

static void
control_pivot(void)
{
	control_namespaces();
	if (mkdir("new", 0755) < 0 || mount("tmpfs", "new", "tmpfs", 0, NULL) < 0 || chdir("new") < 0)
		_exit(1);
}

static int
new_user_namespace(void)
{
	return probe_told(unshare(CLONE_NEWUSER));
}

static int
new_mount_namespace(void)
{
	return probe_told(unshare(CLONE_NEWNS));
}

static int
new_network_namespace(void)
{
	return probe_told(unshare(CLONE_NEWNET));
}

/* The raw call, as glibc's clone() wants a stack. */
static int
clone_with(unsigned long flags)
{
	long child = syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);

	if (child == 0)
		_exit(0);
	return probe_told(child);
}

static int
clone_user_namespace(void)
{
	return clone_with(CLONE_NEWUSER);
}

static int
clone_pid_namespace(void)
{
	return clone_with(CLONE_NEWPID);
}

static int
use_clone3(void)
{
	struct clone_args args = { .flags = CLONE_NEWUSER, .exit_signal = SIGCHLD };
	long child = syscall(SYS_clone3, &args, sizeof(args));

	if (child == 0)
		_exit(0);
	return probe_told(child);
}

static int
join_namespace(void)
{
	int fd = open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? errno : probe_told(setns(fd, 0));
}

/*
 * A program that gained privileges at exec is started by ld.so in secure mode, and then does not
 * answer LD_SHOW_AUXV.
 */
static int
started_secure(const char *path)
{
	char *const argv[] = { (char *)(uintptr_t)path, (char[]){ "--version" }, NULL };
	char *const envp[] = { (char[]){ "LD_SHOW_AUXV=1" }, NULL };
	char text[4096] = "";
	size_t length = 0;
	int ends[2];
	ssize_t got;
	pid_t child;

	if (pipe(ends) < 0 || (child = fork()) < 0)
		return NOT_HERE;
	if (child == 0) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 0);
		dup2(ends[1], 1);
		dup2(null, 2);
		execve(path, argv, envp);
		_exit(127);
	}
	close(ends[1]);
	while (length < sizeof(text) - 1 && (got = read(ends[0], text + length, sizeof(text) - 1 - length)) > 0)
		length += (size_t)got;
	waitpid(child, NULL, 0);
	return strstr(text, "AT_SECURE:") ? HELD : WORKED;
}

static int
run_set_uid_program(void)
{
	static const char *const paths[] = { "/usr/bin/su", "/usr/bin/passwd", "/usr/bin/mount", "/usr/bin/newgrp" };
	struct stat st;

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (stat(paths[i], &st) == 0 && st.st_mode & S_ISUID)
			return started_secure(paths[i]);
	return HELD; /* none is there */
}

static int
become_root(void)
{
	return probe_told(setresuid(0, 0, 0));
}

static int
join_group_root(void)
{
	const gid_t group = 0;

	return probe_told(setgroups(1, &group));
}

static int
have_privileges(void)
{
	static const char *const good[] = { "CapInh:\t0000000000000000", "CapPrm:\t0000000000000000",
		"CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "CapAmb:\t0000000000000000",
		"NoNewPrivs:\t1", "Seccomp:\t2" };
	FILE *file = fopen("/proc/self/status", "re");
	char line[256];
	size_t found = 0;

	while (file && fgets(line, sizeof(line), file))
		for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
			found += strncmp(line, good[i], strlen(good[i])) == 0;
	if (!file)
		return NOT_HERE;
	fclose(file);
	return found == sizeof(good) / sizeof(good[0]) ? HELD : WORKED;
}

static int
change_securebits(void)
{
	return probe_told(prctl(PR_SET_SECUREBITS, SECBIT_KEEP_CAPS, 0, 0, 0));
}

static int
change_personality(void)
{
	return probe_told(personality(READ_IMPLIES_EXEC));
}

static int
add_a_key(void)
{
	return probe_told(syscall(SYS_add_key, "user", "probe", "x", 1, KEY_SPEC_PROCESS_KEYRING));
}

static int
read_keyring(void)
{
	char text[256];

	return probe_told(syscall(SYS_keyctl, KEYCTL_DESCRIBE, KEY_SPEC_SESSION_KEYRING, text, sizeof(text), 0));
}

static int
request_a_key(void)
{
	return probe_told(syscall(SYS_request_key, "user", "probe", NULL, KEY_SPEC_PROCESS_KEYRING));
}

static void
control_key(void)
{
	if (add_a_key() != WORKED)
		_exit(1);
}

static int
trace_victim(void)
{
	return probe_told(ptrace(PTRACE_ATTACH, probe_targets.victim, NULL, NULL));
}

static int
seize_victim(void)
{
	return probe_told(ptrace(PTRACE_SEIZE, probe_targets.victim, NULL, NULL));
}

static int
ask_to_be_traced(void)
{
	return probe_told(ptrace(PTRACE_TRACEME, 0, NULL, NULL));
}

/* The same memory in ourselves and, after a fork, in the victim of a control. */
static char memory[8];

static int
read_memory(void)
{
	char copy[8];
	struct iovec here = { copy, sizeof(copy) }, there = { memory, sizeof(memory) };

	return probe_told(process_vm_readv(probe_targets.victim, &here, 1, &there, 1, 0));
}

static int
write_memory(void)
{
	char copy[8] = "probe";
	struct iovec here = { copy, sizeof(copy) }, there = { memory, sizeof(memory) };

	return probe_told(process_vm_writev(probe_targets.victim, &here, 1, &there, 1, 0));
}

static int
take_descriptor(void)
{
	int pidfd = (int)syscall(SYS_pidfd_open, probe_targets.victim, 0);

	return probe_told(syscall(SYS_pidfd_getfd, pidfd, 0, 0));
}

static int
change_limits(void)
{
	struct rlimit limit = { 1, 1 };

	return probe_told(prlimit(probe_targets.victim, RLIMIT_CPU, &limit, NULL));
}

static const struct attempt list[] = {
	{ 9, "mount a tmpfs", mount_tmpfs, { EPERM }, control_namespaces, NULL },
	{ 9, "bind the root", mount_bind, { EPERM }, control_namespaces, NULL },
	{ 9, "remount /usr/bin writable", remount_writable, { EPERM }, control_mounts, NULL },
	{ 10, "open_tree", clone_tree, { ENOSYS }, control_namespaces, NULL },
	{ 10, "fsopen", open_filesystem, { ENOSYS }, control_plain, NULL },
	{ 10, "mount_setattr", change_mount, { ENOSYS }, control_mounts, NULL },
	{ 10, "the other new mount calls", use_mount_calls, { ENOSYS }, NULL, "their arguments are nonsense" },
	{ 11, "unmount /proc", unmount_proc, { EPERM }, control_namespaces, NULL },
	{ 12, "chroot", change_root, { EPERM }, control_plain, NULL },
	{ 12, "pivot_root", pivot, { EPERM }, control_pivot, NULL },
	{ 13, "leave a chroot by a descriptor", break_chroot, { EPERM }, control_plain, NULL },
	{ 31, "unshare a user namespace", new_user_namespace, { EPERM }, control_plain, NULL },
	{ 31, "unshare a mount namespace", new_mount_namespace, { EPERM }, control_plain, NULL },
	{ 31, "unshare a network namespace", new_network_namespace, { EPERM }, control_plain, NULL },
	{ 31, "clone a user namespace", clone_user_namespace, { EPERM }, control_plain, NULL },
	{ 31, "clone a pid namespace", clone_pid_namespace, { EPERM }, control_plain, NULL },
	{ 31, "clone3", use_clone3, { ENOSYS }, control_plain, NULL },
	{ 32, "setns", join_namespace, { EPERM }, control_plain, NULL },
	{ 33, "gain by a set-uid program", run_set_uid_program, { HELD }, control_user, NULL },
	{ 35, "become uid 0", become_root, { EPERM, EINVAL }, control_plain, NULL },
	{ 35, "join group 0", join_group_root, { EPERM, EINVAL }, control_plain, NULL },
	{ 36, "have privileges, or no filter", have_privileges, { HELD }, control_plain, NULL },
	{ 37, "change securebits", change_securebits, { EPERM }, control_plain, NULL },
	{ 38, "personality READ_IMPLIES_EXEC", change_personality, { EPERM }, control_plain, NULL },
	{ 39, "add_key", add_a_key, { EPERM }, control_plain, NULL },
	{ 39, "keyctl", read_keyring, { EPERM }, control_plain, NULL },
	{ 39, "request_key", request_a_key, { EPERM }, control_key, NULL },
	{ 40, "attach to pid 1", trace_victim, { EPERM }, control_victim, NULL },
	{ 40, "seize pid 1", seize_victim, { EPERM }, control_victim, NULL },
	{ 40, "ask to be traced", ask_to_be_traced, { EPERM }, control_plain, NULL },
	{ 40, "read memory of pid 1", read_memory, { EPERM }, control_victim, NULL },
	{ 40, "write memory of pid 1", write_memory, { EPERM }, control_victim, NULL },
	{ 40, "take a descriptor of pid 1", take_descriptor, { EPERM }, control_victim, NULL },
	{ 40, "change the limits of pid 1", change_limits, { EPERM, ESRCH }, control_victim, NULL },
};

struct attempts
probe_privilege(void)
{
	return (struct attempts){ list, sizeof(list) / sizeof(list[0]) };
}
