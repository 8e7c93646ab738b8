/*
 * Stands in for broker, executor, auditor and keeper in the tests of launch: by
 * its name it answers launch's questions, then tells on standard error what it
 * was given ("broker uid 123 ...", one fact per line) and waits for its end.
 *
 * Its policy is no JSON: lines "slots N" and "root FLAGS PATH"; or "broken".
 */
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boot.h"
#include "fields.h"

static const char *self;
static struct boot boot;

#define tell(format, ...) dprintf(STDERR_FILENO, "%s " format "\n", self, __VA_ARGS__)

/* --- agent-safe-broker bounds --- */

static int
write_fields(const struct fields_writer *writer)
{
	return !writer->failed &&
	    write(STDOUT_FILENO, writer->bytes, writer->length) == (ssize_t)writer->length ? 0 : 1;
}

static int
answer_bounds(void)
{
	static char paths[LIMIT_ROOTS][LIMIT_PATH];
	unsigned long flags[LIMIT_ROOTS], slots = 2, network = 0, port = 0;
	unsigned roots = 0;
	char line[LIMIT_PATH + 64];
	unsigned char digest[32] = { 7 };
	struct fields_writer writer;

	while (fgets(line, sizeof(line), stdin)) {
		if (strncmp(line, "broken", 6) == 0)
			return dprintf(STDERR_FILENO, "<3>broker: this policy is broken\n"), 2;
		if (strncmp(line, "crash", 5) == 0)
			abort();
		if (strncmp(line, "garbage", 7) == 0)
			return puts("ASBNDS01garbage"), 0;
		if (strncmp(line, "hang", 4) == 0)
			pause();
		if (sscanf(line, "slots %lu", &slots) == 1 || sscanf(line, "network %lu %lu", &network, &port) >= 1)
			continue;
		if (sscanf(line, "root %lu %4095[^\n]", &flags[roots], paths[roots]) == 2)
			roots++;
	}
	fields_begin(&writer, BOUNDS_MAGIC);
	fields_put(&writer, BOUNDS_POLICY_SHA256, digest, sizeof(digest));
	fields_put_u64(&writer, BOUNDS_SLOTS, slots);
	fields_put_text(&writer, BOUNDS_PROFILE_FLOOR, "default");
	for (unsigned i = 0; i < roots; i++)
		fields_put_text(&writer, BOUNDS_ROOT_PATH, paths[i]);
	for (unsigned i = 0; i < roots; i++)
		fields_put_u64(&writer, BOUNDS_ROOT_FLAGS, flags[i]);
	fields_put_u64(&writer, BOUNDS_NETWORK, network);
	if (port)
		fields_put_u64(&writer, BOUNDS_TCP_PORT, port);
	for (uint16_t tag = BOUNDS_AUDIT_REQUIRE; tag <= BOUNDS_AUDIT_SECONDS; tag++)
		fields_put_u64(&writer, tag, 0);
	fields_put_u64(&writer, BOUNDS_MINIMUM, 0);
	return write_fields(&writer);
}

/* --- agent-safe-auditor recover --- */

static int
answer_recover(void)
{
	const char *name = "seg-00000000000000000000.jsonl";
	int fd = openat(AUDITOR_LOG_FD, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	if (fd < 0 || !boot_read(BOOT_FD, &boot))
		return dprintf(STDERR_FILENO, "<2>auditor: no segment\n"), 1;
	if (faccessat(AUDITOR_KEY_FD, "refuse", F_OK, 0) == 0)
		return dprintf(STDERR_FILENO, "<6>auditor: looking\n<2>auditor: line 3 was altered\n"), 1;
	printf("%s\n", name);
	return 0;
}

/* --- what was given --- */

static void
tell_status(void)
{
	static const char *const wanted[] = { "Uid", "Gid", "Groups", "Cap", "NoNewPrivs" };
	char line[512];
	FILE *file = fopen("/proc/self/status", "re");

	while (file && fgets(line, sizeof(line), file))
		for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
			if (strncmp(line, wanted[i], strlen(wanted[i])) == 0) {
				for (char *at = line; *at; at++)
					*at = *at == '\t' ? ' ' : *at == '\n' ? '\0' : *at;
				tell("%s", line);
			}
	if (file)
		fclose(file);
}

static void
tell_link(const char *path, const char *as)
{
	char target[LIMIT_PATH];
	ssize_t length = readlink(path, target, sizeof(target) - 1);

	target[length > 0 ? length : 0] = '\0';
	tell("%s %s", as, target);
}

static void
tell_descriptors(void)
{
	char path[64], as[32];

	for (int fd = 0; fd < 1024; fd++) {
		if (fcntl(fd, F_GETFD) < 0)
			continue;
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		snprintf(as, sizeof(as), "fd %d", fd);
		tell_link(path, as);
	}
}

static void
tell_namespaces(void)
{
	static const char *const names[] = { "user", "mnt", "net", "ipc", "uts", "pid" };
	char path[64], as[32];

	for (size_t i = 0; i < 6; i++) {
		snprintf(path, sizeof(path), "/proc/self/ns/%s", names[i]);
		snprintf(as, sizeof(as), "ns");
		tell_link(path, as);
	}
}

static void
tell_file(const char *path, const char *as)
{
	char line[1024];
	FILE *file = fopen(path, "re");

	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		tell("%s %s", as, line);
	}
	if (file)
		fclose(file);
}

static void
tell_boot(void)
{
	if (!boot_read(BOOT_FD, &boot)) {
		tell("boot %s", "unreadable");
		return;
	}
	tell("boot mode %d broker %u executor %u auditor %u pids %d %d", (int)boot.mode, boot.broker_uid,
	    boot.executor_uid, boot.auditor_uid, boot.executor_pid, boot.auditor_pid);
	tell("boot origin %s", boot.origin);
	tell("boot floor %s layers %llx slots %u", boot.profile_floor, (unsigned long long)boot.layers,
	    boot.slot_count);
	tell("boot policy %s digest %d", boot.policy_path, boot.policy_sha256[0]);
	for (unsigned i = 0; i < boot.slot_count; i++)
		tell("boot slot %u %u", boot.slots[i].job, boot.slots[i].init);
	for (unsigned i = 0; i < boot.root_count; i++)
		tell("boot root %s %llu %u %u", boot.roots[i].path, (unsigned long long)boot.roots[i].flags,
		    boot.roots[i].uid, boot.roots[i].gid);
}

/* --- what the executor can and cannot do --- */

static const char *
outcome(long result)
{
	return result >= 0 ? "ok" : strerrorname_np(errno);
}

static int
entries(const char *path)
{
	DIR *folder = opendir(path);
	int count = 0;

	if (!folder)
		return -1;
	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

/* As the job of slot 0, in root 0. */
static void
try_box(void)
{
	char path[2 * LIMIT_PATH];
	struct stat st = { 0 };
	int fd;

	snprintf(path, sizeof(path), "%s/idm/0/0", boot.box_dir);
	fd = stat(path, &st);
	tell("box-root-owner %s %u %u", outcome(fd), st.st_uid, st.st_gid);
	setfsgid(boot.slots[0].job);
	setfsuid(boot.slots[0].job);
	snprintf(path, sizeof(path), "%s/idm/0/0/made-by-job", boot.box_dir);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	tell("box-create %s", outcome(fd));
	snprintf(path, sizeof(path), "%s/idm/0/1/made-by-job", boot.box_dir);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	tell("box-create-read-only %s", outcome(fd));
	setfsuid(boot.executor_uid);
	setfsgid(boot.executor_uid);
	snprintf(path, sizeof(path), "%s/own/x", boot.box_dir);
	tell("box-own %s", outcome(mkdir(path, 0700)));
	snprintf(path, sizeof(path), "%s/x", boot.box_dir);
	tell("box-root-write %s", outcome(mkdir(path, 0700)));
}

/* A run folder of slot 0, made under its init's uid by descriptor, as the executor does. */
static void
try_runs(void)
{
	struct stat st;
	int fd, slot_fd = openat(EXECUTOR_RUNS_FD, "0", O_PATH | O_DIRECTORY | O_CLOEXEC);

	setfsgid(boot.slots[0].init);
	setfsuid(boot.slots[0].init);
	tell("runs-slot %s", outcome(slot_fd));
	tell("runs-make %s", outcome(mkdirat(slot_fd, "run", 0750)));
	setfsuid(boot.executor_uid);
	setfsgid(boot.executor_uid);
	fd = fstatat(EXECUTOR_RUNS_FD, "0/run", &st, 0);
	tell("runs-look %s", outcome(fd));
}

static void
try_escapes(void)
{
	tell("mask-entries %d", entries(boot.state_dir));
	tell("mask-socket %s", outcome(faccessat(AT_FDCWD, boot.propose_socket, F_OK, 0)));
	tell("umount-mask %s", outcome(umount2(boot.state_dir, MNT_DETACH)));
	tell("umount-proc %s", outcome(umount2("/proc", MNT_DETACH)));
	tell("unshare-user %s", outcome(unshare(CLONE_NEWUSER)));
	tell("setuid-0 %s", outcome(setuid(0)));
	tell("setuid-broker %s", outcome(setuid(boot.broker_uid)));
	tell("open-shadow %s", outcome(open("/etc/shadow", O_RDONLY | O_CLOEXEC)));
	tell("make-job-cgroup %s", outcome(mkdirat(EXECUTOR_CGROUP_FD, "try", 0755)));
	unlinkat(EXECUTOR_CGROUP_FD, "try", AT_REMOVEDIR);
	tell("mount-tmpfs %s", outcome(mount("tmpfs", "/mnt", "tmpfs", 0, NULL)));
	tell("setuid-job %s", outcome(setresuid(boot.slots[0].job, boot.slots[0].job, boot.slots[0].job)));
}

/* A new pid namespace must be able to have its own proc: the outer one is whole. */
static void
try_proc(void)
{
	pid_t child = unshare(CLONE_NEWPID | CLONE_NEWNS) < 0 ? -1 : fork();

	if (child == 0)
		_exit(mount("proc", "/mnt", "proc", 0, NULL) == 0 ? 0 : errno);
	tell("fresh-proc %s", child > 0 ? "tried" : outcome(-1));
	if (child > 0) {
		int status = -1;
		siginfo_t info;

		waitid(P_PID, (id_t)child, &info, WEXITED);
		status = info.si_status;
		tell("fresh-proc-status %d", status);
	}
}

static void
tell_all(char **environment)
{
	int count = 0;

	while (environment[count])
		count++;
	tell("pid %d session %d environment %d", (int)getpid(), (int)getsid(0), count);
	tell_status();
	tell_descriptors();
	tell_namespaces();
	tell_file("/proc/self/cgroup", "cgroup");
	tell_boot();
}

/* --- the ends --- */

static int
serve_clients(void)
{
	char line[4096];

	usleep(200000); /* as the real one: first the other two must be up */
	signal(SIGPIPE, SIG_IGN);
	for (;;) {
		int client = accept4(BROKER_CONTROL_FD, NULL, NULL, SOCK_CLOEXEC);
		ssize_t got;

		if (client < 0) { /* the socket does not block */
			usleep(20000);
			continue;
		}
		got = read(client, line, sizeof(line) - 1);
		line[got > 0 ? got : 0] = '\0';
		if (write(client, "{}\n", 3) != 3)
			tell("answer %s", strerror(errno));
		close(client);
		if (strstr(line, "server.stop"))
			return 0;
	}
}

static int
wait_for_end(void)
{
	char byte;

	while (recv(EXECUTOR_BROKER_FD, &byte, 1, 0) > 0)
		;
	tell("%s", "ended");
	return 0;
}

int
main(int argc, char **argv, char **environment)
{
	const char *dash = strrchr(argv[0], '-');

	self = dash ? dash + 1 : argv[0];
	if (argc > 1 && strcmp(argv[1], "bounds") == 0)
		return answer_bounds();
	if (argc > 1 && strcmp(argv[1], "recover") == 0)
		return answer_recover();
	tell_all(environment);
	if (strcmp(self, "executor") == 0) {
		if (faccessat(EXECUTOR_RUNS_FD, "die", F_OK, 0) == 0)
			return dprintf(STDERR_FILENO, "<2>executor: this kernel is too old\n"), 1;
		tell_file("/proc/self/uid_map", "uid_map");
		tell_file("/proc/self/gid_map", "gid_map");
		tell_file("/proc/self/mountinfo", "mount");
		if (boot.mode != MODE_WORKSPACE_USER) {
			try_box();
			try_runs();
			try_proc();
			try_escapes();
		}
	}
	return strcmp(self, "broker") == 0 ? serve_clients() : wait_for_end();
}
