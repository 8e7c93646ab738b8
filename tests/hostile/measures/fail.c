/*
 * fail - starts a program under a system call filter that lets measures fail.
 *
 * It is put in the place of a program; that one lies beside it in real/.  What fails is in the file
 * `fail`, also beside it, one line each:
 *
 *   CALL ARGUMENT VALUE ANSWER   the call by its name, where its argument (0-5; "-": any) has this
 *                                value, answers this errno; 0: it claims success, without effect;
 *                                kill: it ends the process
 *
 * Started with arguments (launch asks broker and auditor something first) nothing fails, except around launch and
 * the command line tool, and then in all that they start.
 */
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *name;
	int number;
} calls[] = {
	{ "prctl", SYS_prctl }, { "capset", SYS_capset }, { "capget", SYS_capget }, { "seccomp", SYS_seccomp },
	{ "prlimit64", SYS_prlimit64 }, { "setgroups", SYS_setgroups }, { "setresuid", SYS_setresuid },
	{ "setresgid", SYS_setresgid }, { "unshare", SYS_unshare }, { "mount", SYS_mount },
	{ "umount2", SYS_umount2 }, { "pivot_root", SYS_pivot_root }, { "setsid", SYS_setsid },
	{ "sethostname", SYS_sethostname }, { "keyctl", SYS_keyctl }, { "clone3", SYS_clone3 },
	{ "open_tree", SYS_open_tree }, { "move_mount", SYS_move_mount }, { "mount_setattr", SYS_mount_setattr },
	{ "landlock_create_ruleset", SYS_landlock_create_ruleset }, { "chdir", SYS_chdir },
	{ "landlock_add_rule", SYS_landlock_add_rule }, { "close_range", SYS_close_range }, { "openat2", SYS_openat2 },
	{ "landlock_restrict_self", SYS_landlock_restrict_self },
};

static void
die(const char *what)
{
	perror(what);
	_exit(99);
}

static void
load(struct sock_filter *steps, unsigned short count)
{
	struct sock_fprog program = { count, steps };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
		die("fail: seccomp");
}

/* The low half of the argument is enough for what we compare. */
static void
let_fail(const char *call, const char *argument, const char *value, const char *answer)
{
	bool any = strcmp(argument, "-") == 0;
	unsigned at = (unsigned)offsetof(struct seccomp_data, args) + 8u * (unsigned)strtoul(argument, NULL, 10);
	unsigned verdict = strcmp(answer, "kill") == 0 ? SECCOMP_RET_KILL_PROCESS :
	    SECCOMP_RET_ERRNO | (unsigned)strtoul(answer, NULL, 10);

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct sock_filter steps[] = {
			BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i].number, 0, 3),
			BPF_STMT(BPF_LD | BPF_W | BPF_ABS, any ? offsetof(struct seccomp_data, nr) : at),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
			    any ? (unsigned)calls[i].number : (unsigned)strtoul(value, NULL, 10), 0, 1),
			BPF_STMT(BPF_RET | BPF_K, verdict),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		};

		if (strcmp(calls[i].name, call) != 0)
			continue;
		load(steps, sizeof(steps) / sizeof(steps[0]));
		return;
	}
	die(call);
}

static void
read_orders(const char *folder)
{
	char path[PATH_MAX + 16], line[256], call[64], argument[16], value[32], answer[16];
	FILE *file;

	snprintf(path, sizeof(path), "%s/fail", folder);
	file = fopen(path, "re");
	if (!file)
		die(path);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%63s %15s %31s %15s", call, argument, value, answer) == 4)
			let_fail(call, argument, value, answer);
	fclose(file);
}

int
main(int argc, char **argv)
{
	char own[PATH_MAX], path[PATH_MAX + 64];
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);
	char *slash, *environment[] = { NULL };
	extern char **environ;

	own[length > 0 ? length : 0] = '\0';
	slash = strrchr(own, '/');
	if (!slash)
		die("fail: /proc/self/exe");
	*slash = '\0';
	snprintf(path, sizeof(path), "%s/real/%s", own, slash + 1);
	if (argc == 1 || strcmp(slash + 1, "agent-safe-launch") == 0 || strcmp(slash + 1, "agent-safe") == 0)
		read_orders(own);
	execve(path, argv, environ ? environ : environment);
	die(path);
}
