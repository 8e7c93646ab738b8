/* Find running and ended runs again. */
#include <sys/socket.h>
#include <sys/syscall.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "keep.h"
#include "log.h"
#include "scope.h"

#include "adopt.h"
#include "executor.h"

#define LOOK_AGAIN_MS 500
#define ADOPTED_MOST (EXECUTOR_ATTEMPTS / 2) /* the others are for what the broker asks and starts */

/* A job that was frozen for want of an auditor goes on. */
static void
show_auditor(struct attempt *attempt)
{
	struct message message = { .type = MSG_JOB_WATCH };

	message.descriptors[0] = EXECUTOR_LIFE_FD;
	if (channel_send(&attempt->keeper, &message) < 0)
		log_warn("%s: the keeper does not hear of the auditor: %s", attempt->name, strerror(errno));
}

/*
 * Nothing of the job was made: the mark is missing, and so is all that a release left which did not
 * make it.  Without the cage in words the folder tells too little: then nobody knows.
 */
static bool
was_never_begun(const struct runs *runs, int folder)
{
	static const char *const traces[] = { KEEP_BEGUN, KEEP_RECORDED, KEEP_COLLECTED,
		KEEP_WATCHED, KEEP_LOCK, KEEP_RESULT };

	for (size_t i = 0; i < sizeof(traces) / sizeof(traces[0]); i++)
		if (runs_has(runs, folder, traces[i]))
			return false;
	return runs_has(runs, folder, KEEP_CAGE);
}

/* Result present: collect.  Lock held: connect.  Neither: lost, unless it was never begun. */
void
adopt_again(struct attempt *attempt)
{
	const struct runs *runs = &attempt->executor->runs[attempt->run.slot];
	struct run_result result;
	struct ucred peer;
	socklen_t size = sizeof(peer);
	int fd;

	if (was_never_begun(runs, attempt->folder)) {
		attempt_refuse(attempt, STAGE_STOPPED, EINTR);
		return;
	}
	if (runs_result(runs, attempt->folder, &attempt->run, &result) ||
	    !runs_is_kept(runs, attempt->folder)) {
		attempt_lose(attempt); /* which takes the result where there is one */
		return;
	}
	attempt->state = ATTEMPT_RUNNING;
	fd = runs_connect(runs, attempt->folder);
	if (fd < 0) {
		attempt->deadline_us = clock_monotonic_us() + LOOK_AGAIN_MS * 1000ull;
		return;
	}
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
	    peer.uid == runs->init.uid)
		attempt->keeper_pidfd = (int)syscall(SYS_pidfd_open, peer.pid, 0);
	attempt_listen(attempt, fd);
	show_auditor(attempt);
	if (attempt->stop)
		attempt_stop(attempt);
}

int
adopt_one(struct executor *executor, const struct run_name *run)
{
	struct attempt *attempt;
	int folder = runs_open(&executor->runs[run->slot], run);

	if (folder < 0)
		return -1;
	attempt = attempt_new(executor, run);
	if (!attempt)
		fatal("more runs than slots");
	attempt->folder = folder;
	attempt->adopted = true;
	adopt_again(attempt);
	return 0;
}

static void
on_folder(void *context, const struct run_name *run)
{
	struct executor *executor = context;
	const struct runs *runs = &executor->runs[run->slot];
	scoped_close int folder = runs_open(runs, run);

	if (folder < 0 || runs_has(runs, folder, KEEP_COLLECTED) || attempt_find(executor, run))
		return;
	if (attempt_count(executor) < ADOPTED_MOST)
		adopt_one(executor, run);
	else
		executor->folders_left = true;
}

void
adopt_all(struct executor *executor)
{
	executor->folders_left = false;
	for (unsigned slot = 0; slot < executor->boot.slot_count; slot++)
		runs_each(&executor->runs[slot], slot, on_folder, executor);
}

void
adopt_more(struct executor *executor)
{
	if (executor->folders_left && attempt_count(executor) == 0)
		adopt_all(executor);
}
