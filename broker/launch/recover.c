/*
 * The log before the trio: the auditor's program, run once, repairs the end of the log
 * and makes the segment for this start.  Then root sets the append-only flag, and only
 * after that the auditor opens it: a descriptor from before the flag could overwrite.
 */
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <unistd.h>

#include "launch.h"
#include "log.h"
#include "once.h"
#include "record.h"
#include "refuse.h"
#include "scope.h"
#include "text.h"

#define DEADLINE_MS 120000 /* it checks the last segment: at most 64 MiB (agent-safe-audit(7)) */
#define NAME_BYTES 64      /* "seg-<20 digits>.jsonl" */

/* A filesystem without such a flag: the log's own chain still holds, so say it and go on. */
static void
set_append_only(int fd, const char *what)
{
	int flags;

	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0) {
		if (flags & FS_APPEND_FL)
			return;
		flags |= FS_APPEND_FL;
		if (ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0)
			return;
	}
	if (errno != EOPNOTSUPP && errno != ENOTTY && errno != ENOSYS)
		refuse_start("internal_error", "append-only flag of %s: %s", what, strerror(errno));
	log_warn("this filesystem has no append-only flag: %s goes without", what);
}

/* The one line of the answer: a file name and nothing else. */
static bool
read_name(const struct once *once, char name[NAME_BYTES])
{
	size_t length = once->out_length;

	if (length < 2 || length > NAME_BYTES || once->out[length - 1] != '\n')
		return false;
	memcpy(name, once->out, length - 1);
	name[length - 1] = '\0';
	return strlen(name) == length - 1 && strncmp(name, "seg-", 4) == 0 && !strchr(name, '/') &&
	    !strchr(name, '\n');
}

static void
protect_segment(const struct launch *launch, const char *name)
{
	scoped_close int fd = openat(launch->audit_log_fd, name,
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		refuse_start("internal_error", "segment %s: %s", name, strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_uid != launch->auditor.uid)
		refuse_start("internal_error", "segment %s is no file of the auditor", name);
	set_append_only(fd, name);
	set_append_only(launch->audit_log_fd, "the log's folder");
}

static void
run_auditor(struct launch *launch, struct once *once)
{
	static const char *const argv[] = { "agent-safe-auditor", "recover", NULL };
	scoped_close int boot_fd = record_make(launch, 0, 0, 0);
	const int fds[] = {
		boot_fd, STDIN_FILENO, STDIN_FILENO, /* no peers yet: /dev/null */
		launch->audit_log_fd, launch->audit_key_fd, launch->lock_fd,
	};

	*once = (struct once){
		.program_fd = launch->programs[PROGRAM_AUDITOR],
		.argv = argv,
		.identity = launch->auditor,
		.stdin_fd = STDIN_FILENO,
		.fds = fds,
		.fd_count = sizeof(fds) / sizeof(fds[0]),
		.deadline_ms = DEADLINE_MS,
	};
	once_run(once);
}

void
recover_log(struct launch *launch)
{
	static struct once once;
	char name[NAME_BYTES];

	run_auditor(launch, &once);
	if (!WIFEXITED(once.status) || WEXITSTATUS(once.status) != 0)
		refuse_start("audit_integrity_error", "the auditor does not accept its log: %s", once.error);
	if (!read_name(&once, name))
		refuse_start("internal_error", "the auditor named no segment");
	if (launch->root)
		protect_segment(launch, name);
}

_Static_assert(AUDITOR_BROKER_FD == 4 && AUDITOR_EXECUTOR_FD == 5 && AUDITOR_LOG_FD == 6 &&
    AUDITOR_KEY_FD == 7 && AUDITOR_LOCK_FD == 8, "the order of fds in run_auditor()");
