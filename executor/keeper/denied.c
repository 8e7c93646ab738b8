/*
 * System calls that the job's filter hands to us instead of answering them itself, one at a time:
 * seccomp_unotify(2).  Only in profiles that report (profile.h).
 *
 * A call that the profile refuses is answered with the very errno of its filter, at once; it is
 * never told to go on.  The kernel's manual warns that SECCOMP_USER_NOTIF_FLAG_CONTINUE must not
 * carry a decision, for what a pointer leads to can be changed after it was looked at.  Ours
 * carries none: a call goes on only when the job's own filter, run over the very registers that
 * the kernel will use, lets it pass.  It was handed over because a stronger profile refuses it.
 *
 * One call is taken for each time that the loop saw one, and the loop looks at everything else in
 * between, so a job that floods us waits for its answers and nobody else does.  Taking never
 * blocks: for each call that poll shows the kernel has counted one up (kernel/seccomp.c,
 * seccomp_do_user_notification), and nobody but us counts down.
 */
#include <sys/epoll.h>
#include <sys/ioctl.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <string.h>
#include <unistd.h>

#include "cgroup.h"
#include "digest.h"
#include "keep.h"
#include "keeper.h"
#include "log.h"

static void
forget(struct keeper *keeper)
{
	if (keeper->calls.fd < 0)
		return;
	loop_remove(&keeper->loop, &keeper->calls);
	close(keeper->calls.fd);
	keeper->calls.fd = -1;
}

/* ENOENT: the caller died or was interrupted meanwhile, and then it comes again: it does not count. */
static void
answer(struct keeper *keeper, const struct seccomp_notif *call)
{
	struct denied_row row = tally_weigh(&keeper->filters, &call->data);
	struct seccomp_notif_resp response = { .id = call->id, .error = -(int)row.error,
		.flags = row.error ? 0 : (uint32_t)SECCOMP_USER_NOTIF_FLAG_CONTINUE };

	if (ioctl(keeper->calls.fd, SECCOMP_IOCTL_NOTIF_SEND, &response) == 0)
		tally_add(&keeper->tally, &row);
	else if (errno != ENOENT)
		fatal("answer a denied call: %s", strerror(errno));
}

static void
on_call(struct source *source, uint32_t events)
{
	struct keeper *keeper = source->context;
	struct seccomp_notif call = { 0 }; /* the kernel insists on zeros */

	if (!(events & EPOLLIN)) {
		forget(keeper); /* the last process under the filter is gone */
		return;
	}
	if (ioctl(source->fd, SECCOMP_IOCTL_NOTIF_RECV, &call) == 0)
		answer(keeper, &call);
	else if (errno != ENOENT && errno != EINTR) /* the caller died first */
		fatal("take a denied call: %s", strerror(errno));
}

void
denied_open(struct keeper *keeper)
{
	const void *bytes;
	size_t length;

	keeper->calls.fd = keeper->denied_fd = -1;
	if (!cgroup_has(KEEPER_FILTERS_FD)) /* it holds /dev/null: nothing is reported */
		return;
	bytes = sealed_map(KEEPER_FILTERS_FD, FILTERS_BYTES, &length);
	if (!bytes || !tally_read_filters(&keeper->filters, bytes, length))
		fatal("these are no filters");
	close(KEEPER_FILTERS_FD);
	keeper->denied_fd = openat(KEEPER_FOLDER_FD, KEEP_DENIED,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640);
	if (keeper->denied_fd < 0)
		fatal(KEEP_DENIED ": %s", strerror(errno));
	keeper->reports = true;
}

bool
denied_watch(struct keeper *keeper, int listener)
{
	if (!keeper->reports || keeper->heard_of)
		return false;
	keeper->calls = (struct source){ listener, on_call, keeper };
	if (loop_add(&keeper->loop, &keeper->calls, EPOLLIN) < 0) {
		log_errno("watch denied calls");
		keeper->calls.fd = -1;
		return false;
	}
	keeper->heard_of = true;
	return true;
}

bool
denied_is_watched(const struct keeper *keeper)
{
	return !keeper->reports || keeper->heard_of;
}

bool
denied_finish(struct keeper *keeper)
{
	struct fields_writer writer;
	bool good;

	forget(keeper);
	if (!keeper->reports)
		return true;
	tally_write(&keeper->tally, keeper->filters.profile, &writer);
	keeper->end.denied = keeper->tally.refused;
	good = !writer.failed;
	if (good) {
		digest_take(keeper->end.denied_sha256, writer.bytes, writer.length);
		good = write(keeper->denied_fd, writer.bytes, writer.length) == (ssize_t)writer.length &&
		    fsync(keeper->denied_fd) == 0;
	}
	if (!good)
		log_errno(KEEP_DENIED);
	fields_free(&writer);
	return good;
}
