/* The end: the last processes, the last bytes, the verdict, the result. */
#include <sys/epoll.h>

#include <string.h>

#include "cgroup.h"
#include "keep.h"
#include "keeper.h"
#include "log.h"
#include "result.h"

#define EMPTY_MS 2000  /* init is reaped, so its namespace is empty: the cgroup follows at once */
#define RETRY_MS 1000  /* between tries to store a result */

static bool
cgroup_is_empty(const struct keeper *keeper)
{
	uint64_t populated;

	return keeper->cgroup_events.fd < 0 ||
	    (cgroup_read(keeper->cgroup_events.fd, "populated", &populated) && populated == 0);
}

static void
on_cgroup(struct source *source, uint32_t events)
{
	struct keeper *keeper = source->context;
	bool empty = cgroup_is_empty(keeper); /* reading also takes the event */

	(void)events;
	if (empty && keeper->phase == PHASE_EMPTYING)
		finish_end(keeper);
}

static void
watch_cgroup(struct keeper *keeper)
{
	keeper->cgroup_events.ready = on_cgroup;
	keeper->cgroup_events.context = keeper;
	if (loop_add(&keeper->loop, &keeper->cgroup_events, EPOLLPRI) < 0)
		log_errno("watch cgroup.events"); /* then EMPTY_MS passes */
}

void
finish_begin(struct keeper *keeper)
{
	keeper_enter(keeper, PHASE_EMPTYING, EMPTY_MS);
	if (keeper->cgroup_events.fd >= 0)
		watch_cgroup(keeper);
	if (cgroup_is_empty(keeper))
		finish_end(keeper);
}

static void
read_cgroup(struct keeper *keeper)
{
	if (cgroup_has(KEEPER_MEMORY_EVENTS_FD) &&
	    !cgroup_read(KEEPER_MEMORY_EVENTS_FD, "oom_kill", &keeper->facts.oom_kills))
		log_errno("memory.events");
	if (cgroup_has(KEEPER_MEMORY_PEAK_FD) &&
	    !cgroup_read(KEEPER_MEMORY_PEAK_FD, NULL, &keeper->end.memory_peak))
		log_errno("memory.peak");
	if (cgroup_has(KEEPER_PIDS_EVENTS_FD) &&
	    !cgroup_read(KEEPER_PIDS_EVENTS_FD, "max", &keeper->facts.fork_failures))
		log_errno("pids.events");
}

static void
finish_output(struct output *output, struct stream_end *end)
{
	output_drain(output);
	stream_finish(&output->stream, end);
	if (output->stream.fault != 0)
		log_error("output could not be stored: %s", strerror(output->stream.fault));
}

/* A job whose end nobody told ended when its last process did. */
static void
set_times(struct keeper *keeper)
{
	if (keeper->end.ended_us != 0)
		return;
	keeper->end.ended_us = clock_realtime_us();
	if (keeper->facts.begun)
		keeper->end.duration_us = clock_monotonic_us() - keeper->begun_us;
}

void
finish_end(struct keeper *keeper)
{
	set_times(keeper);
	finish_output(&keeper->out, &keeper->end.out);
	finish_output(&keeper->err, &keeper->end.err);
	keeper->facts.capture_fault = keeper->out.stream.fault != 0 || keeper->err.stream.fault != 0;
	if (!denied_finish(keeper))
		keeper->facts.capture_fault = true;
	read_cgroup(keeper);
	outcome_decide(&keeper->facts, &keeper->end);
	keeper_enter(keeper, PHASE_TELLING, RETRY_MS);
	finish_tell(keeper);
}

static void
store(struct keeper *keeper)
{
	struct run_result result = { .magic = RUN_RESULT_MAGIC, .run = keeper->orders.run, .end = keeper->end };

	memcpy(result.digest, keeper->orders.digest, sizeof(result.digest));
	keeper->stored = result_store(keeper->result_fd, KEEPER_FOLDER_FD, &result);
}

/*
 * As long as the result is neither told nor on the disk, the keeper stays: it is the only one who
 * knows.  An executor that was told brings it into the log, which is synced; should it die before,
 * the next one finds the file.  Only without any is it for us to sync.
 */
void
finish_tell(struct keeper *keeper)
{
	bool done;

	if (!keeper->stored)
		store(keeper);
	done = on_executor_tell_end(keeper) ||
	    (keeper->stored && result_sync(keeper->result_fd, KEEPER_FOLDER_FD));
	keeper_enter(keeper, done ? PHASE_DONE : PHASE_TELLING, RETRY_MS);
}
