/* The table of attempts, and how each comes to its end. */
#include <sys/epoll.h>
#include <sys/syscall.h>

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "keep.h"
#include "log.h"

#include "adopt.h"
#include "aftermath.h"
#include "box.h"
#include "cgroup.h"
#include "executor.h"
#include "start.h"
#include "tell.h"

struct attempt *
attempt_find(struct executor *executor, const struct run_name *run)
{
	for (unsigned i = 0; i < EXECUTOR_ATTEMPTS; i++) {
		struct attempt *attempt = &executor->attempts[i];

		if (attempt->state != ATTEMPT_FREE && memcmp(&attempt->run, run, sizeof(*run)) == 0)
			return attempt;
	}
	return NULL;
}

bool
attempt_slot_is_busy(const struct executor *executor, unsigned slot)
{
	for (unsigned i = 0; i < EXECUTOR_ATTEMPTS; i++) {
		const struct attempt *attempt = &executor->attempts[i];
		bool over = attempt->adopted && attempt->state >= ATTEMPT_RECORDING;

		if (attempt->state != ATTEMPT_FREE && attempt->run.slot == slot && !over)
			return true;
	}
	return false;
}

unsigned
attempt_count(const struct executor *executor)
{
	unsigned count = 0;

	for (unsigned i = 0; i < EXECUTOR_ATTEMPTS; i++)
		count += executor->attempts[i].state != ATTEMPT_FREE;
	return count;
}

struct attempt *
attempt_new(struct executor *executor, const struct run_name *run)
{
	for (unsigned i = 0; i < EXECUTOR_ATTEMPTS; i++) {
		struct attempt *attempt = &executor->attempts[i];
		struct errand errand = attempt->errand;

		if (attempt->state != ATTEMPT_FREE)
			continue;
		if (!errand.shared && !errand_open(&errand, sizeof(struct start_findings),
		    offsetof(struct start_findings, protect)))
			return NULL;
		*attempt = (struct attempt){ .executor = executor, .run = *run, .folder = -1,
			.root = -1, .keeper.fd = -1, .keeper_pidfd = -1, .errand = errand };
		run_folder(run, attempt->name);
		return attempt;
	}
	return NULL;
}

struct run_end
attempt_plain_end(enum outcome outcome)
{
	uint64_t now = clock_realtime_us();

	return (struct run_end){ .outcome = outcome, .exit_code = -1, .started_us = now,
		.ended_us = now };
}

void
attempt_forget_keeper(struct attempt *attempt)
{
	if (attempt->keeper.fd >= 0) {
		loop_remove(&attempt->executor->loop, &attempt->source);
		close(attempt->keeper.fd);
	}
	if (attempt->keeper_pidfd >= 0)
		close(attempt->keeper_pidfd);
	attempt->keeper.fd = attempt->keeper_pidfd = -1;
}

/* Most runs have none, nor a directory for them. */
static void
remove_copies(const struct attempt *attempt)
{
	static const char *const names[] = { "program", "interpreter", "" };
	char path[LIMIT_PATH];

	if (box_copy(&attempt->executor->boot, attempt->name, "", path) && rmdir(path) < 0 && errno == ENOENT)
		return;
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (box_copy(&attempt->executor->boot, attempt->name, names[i], path) &&
		    remove(path) < 0 && errno != ENOENT)
			log_warn("%s: %s", path, strerror(errno));
}

/*
 * What ended without a keeper has its result from us, so that an executor that comes after us tells
 * the same.  One that cannot be written is told now all the same.
 */
static void
note_end(const struct attempt *attempt)
{
	const struct runs *runs = &attempt->executor->runs[attempt->run.slot];
	struct run_result result = { .magic = RUN_RESULT_MAGIC, .run = attempt->run, .end = attempt->end };

	if (attempt->end.outcome != OUTCOME_REFUSED && attempt->end.outcome != OUTCOME_CANCELLED)
		return;
	if (attempt->folder < 0 || runs_has(runs, attempt->folder, KEEP_RESULT))
		return;
	memcpy(result.digest, attempt->digest, sizeof(result.digest));
	if (runs_write(runs, attempt->folder, KEEP_RESULT, &result, sizeof(result)) < 0)
		log_warn("%s: its end cannot be noted: %s", attempt->name, strerror(errno));
}

void
attempt_conclude(struct attempt *attempt, const struct run_end *end)
{
	attempt->end = *end;
	attempt->deadline_us = 0;
	attempt->state = ATTEMPT_RECORDING;
	attempt_forget_keeper(attempt);
	note_end(attempt);
	remove_copies(attempt);
	if (cgroup_available(EXECUTOR_CGROUP_FD) &&
	    !cgroup_remove(EXECUTOR_CGROUP_FD, attempt->name))
		log_warn("%s: its cgroup is not empty", attempt->name);
	if (attempt->folder >= 0 && !attempt->fresh &&
	    runs_is_recorded(&attempt->executor->runs[attempt->run.slot], attempt->folder))
		attempt_tell(attempt);
	else
		tell_end(attempt);
}

void
attempt_refuse(struct attempt *attempt, uint32_t stage, int error)
{
	struct run_end end = attempt_plain_end(OUTCOME_REFUSED);

	log_warn("%s: refused at %s: %s", attempt->name, stage_name(stage), strerror(error));
	end.stage = stage;
	end.error = error;
	if (stage == STAGE_MINIMUM) /* the record shows what there was instead */
		end.layers = network_layers(attempt->plan.network, start_layers(attempt->executor));
	attempt_conclude(attempt, &end);
}

/* Is the mark there now, or no folder? */
static bool
mark(const struct attempt *attempt, const char *from, const char *name)
{
	if (attempt->folder < 0 ||
	    runs_mark(&attempt->executor->runs[attempt->run.slot], attempt->folder, from, name) == 0)
		return true;
	log_warn("%s: mark %s: %s", attempt->name, name, strerror(errno));
	return false;
}

void
attempt_tell(struct attempt *attempt)
{
	mark(attempt, KEEP_BEGUN, KEEP_RECORDED); /* what was watched is of no more use */
	attempt->state = ATTEMPT_TOLD;
	tell_broker(attempt);
}

void
attempt_collect(struct attempt *attempt)
{
	/* Where no mark can be made the same folders would be found again and again. */
	if (!mark(attempt, KEEP_RECORDED, KEEP_COLLECTED))
		attempt->executor->folders_left = false;
	if (attempt->folder >= 0)
		close(attempt->folder);
	attempt->folder = -1;
	if (attempt->plan.argv)
		decode_free(&attempt->plan);
	attempt->state = ATTEMPT_FREE;
	adopt_more(attempt->executor);
}

/* Nothing of this keeper is believed any more; what it keeps must not go on unseen. */
static void
drop_keeper(struct attempt *attempt, const char *why)
{
	log_error("%s: breach by keeper: %s", attempt->name, why);
	if (attempt->keeper_pidfd >= 0)
		syscall(SYS_pidfd_send_signal, attempt->keeper_pidfd, SIGKILL, NULL, 0);
	attempt_lose(attempt);
}

static void
on_keeper(struct source *source, uint32_t events)
{
	struct attempt *attempt = source->context;
	struct message message;
	const char *why = NULL;

	(void)events;
	switch (channel_take(&attempt->keeper, &message, &why)) {
	case CHANNEL_MESSAGE:
		executor_dispatch(attempt->executor, attempt, &message);
		break;
	case CHANNEL_EMPTY:
		break;
	case CHANNEL_CLOSED:
		attempt_lose(attempt);
		break;
	case CHANNEL_BREACH:
		drop_keeper(attempt, why);
		break;
	}
}

void
attempt_listen(struct attempt *attempt, int fd)
{
	attempt->keeper = (struct channel){ fd, PROCESS_EXECUTOR, PROCESS_KEEPER };
	attempt->source = (struct source){ .fd = fd, .ready = on_keeper, .context = attempt };
	if (loop_add(&attempt->executor->loop, &attempt->source, EPOLLIN) < 0)
		fatal("loop: %s", strerror(errno));
}

void
attempt_lose(struct attempt *attempt)
{
	struct run_end end = attempt_plain_end(OUTCOME_LOST);
	struct run_result result;

	if (attempt->folder >= 0 &&
	    runs_result(&attempt->executor->runs[attempt->run.slot], attempt->folder,
	    &attempt->run, &result))
		end = result.end;
	else {
		log_error("%s: lost: no keeper and no result", attempt->name);
		cgroup_kill(EXECUTOR_CGROUP_FD, attempt->name);
	}
	aftermath(attempt, &end);
}

void
attempt_stop(struct attempt *attempt)
{
	struct message message = { .type = MSG_JOB_STOP };

	attempt->stop = true;
	if (attempt->keeper.fd < 0)
		return; /* seen to before the job is born, or when its keeper is found again */
	tell_stop(attempt);
	message.body.job_stop.reason = STOP_CANCEL;
	if (channel_send(&attempt->keeper, &message) < 0)
		log_warn("%s: stop: %s", attempt->name, strerror(errno));
}

void
attempt_expire(struct attempt *attempt, uint64_t now_us)
{
	if (errand_is_out(&attempt->errand))
		errand_expire(&attempt->errand, now_us);
	if (attempt->deadline_us == 0 || now_us < attempt->deadline_us)
		return;
	attempt->deadline_us = 0;
	if (attempt->state == ATTEMPT_STARTING)
		drop_keeper(attempt, "silence");
	else if (attempt->state == ATTEMPT_RUNNING && attempt->keeper.fd < 0)
		adopt_again(attempt);
}
