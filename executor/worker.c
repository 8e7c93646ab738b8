/* The job's process until it is the job. */
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/securebits.h>
#include <string.h>
#include <unistd.h>

#include "channel.h"
#include "plan.h"
#include "run.h"
#include "scope.h"

#include "fence.h"
#include "filter.h"
#include "report.h"
#include "rlimits.h"
#include "worker.h"

#define SECURE_BITS (SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP | \
	SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE | \
	SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED)

/* The kernel's killer takes jobs before anything of the host: the way from 0 to certain is 1000. */
#define OOM_SCORE "500"

static int
refuse(int error)
{
	errno = error;
	return -1;
}

/*
 * Its file in /proc is root's unless we are dumpable: for this moment we are, under init's ids and
 * alone with init in our namespace.
 */
static int
raise_oom_score(void)
{
	scoped_close int fd = -1;
	char seen[8] = "";

	if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
		return -1;
	fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || fd < 0)
		return -1;
	if (write(fd, OOM_SCORE, sizeof(OOM_SCORE) - 1) < 0 ||
	    pread(fd, seen, sizeof(seen) - 1, 0) < 0)
		return -1;
	return strcmp(seen, OOM_SCORE "\n") == 0 ? 0 : refuse(EPERM);
}

/* Empty bounding and ambient sets, and no way back to a root's privileges. */
static int
lock_capabilities(void)
{
	int held;

	for (int number = 0; (held = prctl(PR_CAPBSET_READ, number, 0, 0, 0)) >= 0; number++)
		if (held && prctl(PR_CAPBSET_DROP, number, 0, 0, 0) < 0)
			return -1;
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECUREBITS, SECURE_BITS, 0, 0, 0) < 0)
		return -1;
	return prctl(PR_GET_SECUREBITS, 0, 0, 0, 0) == SECURE_BITS ? 0 : refuse(EPERM);
}

static int
drop_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };

	if (syscall(SYS_capset, &header, data) < 0 || syscall(SYS_capget, &header, data) < 0)
		return -1;
	for (unsigned i = 0; i < 2; i++)
		if (data[i].effective || data[i].permitted || data[i].inheritable)
			return refuse(EPERM);
	for (int number = 0; prctl(PR_CAPBSET_READ, number, 0, 0, 0) >= 0; number++)
		if (prctl(PR_CAPBSET_READ, number, 0, 0, 0) != 0)
			return refuse(EPERM);
	return 0;
}

/* Real, effective and saved are the job's, and root's cannot be had. */
static int
check_ids(const struct identity *job)
{
	uid_t uids[3];
	gid_t gids[3];

	if (syscall(SYS_getresuid, &uids[0], &uids[1], &uids[2]) < 0 ||
	    syscall(SYS_getresgid, &gids[0], &gids[1], &gids[2]) < 0)
		return -1;
	for (unsigned i = 0; i < 3; i++)
		if (uids[i] != job->uid || gids[i] != job->gid)
			return refuse(EPERM);
	if (syscall(SYS_setuid, 0) == 0 || syscall(SYS_setgid, 0) == 0)
		return refuse(EPERM);
	return 0;
}

static int
become_job(const struct cage *cage)
{
	const struct identity *job = &cage->job;

	if (lock_capabilities() < 0)
		return -1;
	/*
	 * With one uid setgroups() is denied for ever; what stays is told by the layer that is
	 * missing.
	 */
	if (!cage->one_uid && (syscall(SYS_setgroups, 0, NULL) < 0 || getgroups(0, NULL) != 0))
		return refuse(EPERM);
	if (syscall(SYS_setresgid, job->gid, job->gid, job->gid) < 0 ||
	    syscall(SYS_setresuid, job->uid, job->uid, job->uid) < 0)
		return -1;
	if (drop_capabilities() < 0 || check_ids(job) < 0)
		return -1;
	umask(022);
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? 0 : refuse(EPERM);
}

/* Stand in the approved directory: the same inode, reached as the job, seen under its own name. */
static int
enter_directory(const struct cage *cage)
{
	scoped_close int fd = open(cage->plan->cwd, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char seen[LIMIT_PATH];
	struct stat stat;

	if (fd < 0 || fstat(fd, &stat) < 0)
		return -1;
	if (stat.st_dev != cage->plan->cwd_dev || stat.st_ino != cage->plan->cwd_ino)
		return refuse(ESTALE);
	if (fchdir(fd) < 0 || syscall(SYS_getcwd, seen, sizeof(seen)) < 0)
		return -1;
	return strcmp(seen, cage->plan->cwd) == 0 ? 0 : refuse(ESTALE);
}

/* O_PATH of a path that must lead to the pinned file or to our copy of it. */
static int
open_same(const struct cage_file *file, const char *path)
{
	scoped_close int fd = open(path, O_PATH | O_CLOEXEC);
	struct stat stat;

	if (fd < 0 || fstat(fd, &stat) < 0)
		return -1;
	if (stat.st_dev != file->dev || stat.st_ino != file->ino)
		return refuse(ESTALE);
	return scope_keep(&fd);
}

static int
check_interpreter(const struct cage_file *file)
{
	scoped_close int fd = file->wanted ? open_same(file, file->program->named) : -1;

	return file->wanted && fd < 0 ? -1 : 0;
}

/*
 * A pinned program by its path, which nobody can change; a copy by its descriptor, for a
 * directory of the workspace could be renamed meanwhile by another job of the same root.  A
 * script needs a path: its interpreter opens it again.
 */
static void
execute(const struct cage *cage, int program)
{
	char **argv = cage->plan->argv, **envp = cage->plan->envp;

	if (cage->program.copied && !cage->interpreter.wanted)
		syscall(SYS_execveat, program, "", argv, envp, AT_EMPTY_PATH);
	else
		syscall(SYS_execve, cage_exec_path(cage->program.program), argv, envp);
}

/*
 * Where the profile reports, the filter's listener goes to the keeper by init's socket.  Both are
 * closed at the exec, and nothing that is called until then is ever reported: nobody answers yet.
 */
static int
load_filter(const struct cage *cage)
{
	const struct channel keeper = { cage->control, PROCESS_INIT, PROCESS_KEEPER };
	struct message message = { .type = MSG_INIT_FILTERED };
	scoped_close int listener = -1;

	if (cage->filters < 0)
		return filter_load_job(cage->plan->profile, cage->plan->network);
	listener = report_load(cage->plan->profile, cage->plan->network);
	message.descriptors[0] = listener;
	return listener < 0 ? -1 : channel_send(&keeper, &message);
}

/* The stages in order; returns the one that failed, with errno. */
static uint32_t
prepare_and_execute(const struct cage *cage)
{
	int program;

	if (setsid() < 0) /* a group that init can signal whole, and that its leader cannot leave */
		return STAGE_NAMESPACE;
	if (raise_oom_score() < 0 || rlimits_apply(cage->plan) < 0)
		return STAGE_LIMITS;
	if (become_job(cage) < 0)
		return STAGE_IDENTITY;
	if (enter_directory(cage) < 0)
		return STAGE_WORKDIR;
	program = open_same(&cage->program, cage_exec_path(cage->program.program));
	if (program < 0 || check_interpreter(&cage->interpreter) < 0)
		return STAGE_PROGRAM;
	if (fence_close(cage) < 0)
		return STAGE_LANDLOCK;
	if (syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_CLOEXEC) < 0 || load_filter(cage) < 0)
		return STAGE_SECCOMP;
	execute(cage, program);
	return STAGE_EXEC;
}

void
worker_run(const struct cage *cage, int error_fd)
{
	struct worker_failure failure = { prepare_and_execute(cage), errno };

	failure.error = errno;
	if (write(error_fd, &failure, sizeof(failure)) != sizeof(failure))
		_exit(126);
	_exit(127);
}
