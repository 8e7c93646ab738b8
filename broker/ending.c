/* How a run ended: stored with its record in one transaction. */
#include <stdlib.h>
#include <string.h>

#include "digest.h"
#include "log.h"

#include "broker.h"
#include "ending.h"
#include "job.h"
#include "order.h"
#include "record.h"
#include "result.h"

#define RETURNS_MOST 8 /* runs in a row of one job that were never begun */
#define NUMBER_MOST ((1ull << 53) - 1) /* exact in every JSON reader */

const char *
ending_error_class(uint32_t outcome)
{
	static const char *const classes[OUTCOME_COUNT] = {
		[OUTCOME_EXITED] = "nonzero_exit", [OUTCOME_SIGNALLED] = "signal",
		[OUTCOME_TIMED_OUT] = "timeout", [OUTCOME_OOM] = "oom", [OUTCOME_LIMIT] = "limit",
		[OUTCOME_REFUSED] = "spawn_error", [OUTCOME_LOST] = "unknown_outcome",
		[OUTCOME_VIOLATED] = "violated",
	};

	return outcome < OUTCOME_COUNT ? classes[outcome] : NULL;
}

static bool
stream_is_possible(const struct stream_end *stream)
{
	return stream->bytes <= NUMBER_MOST && stream->stored_bytes <= NUMBER_MOST &&
	    stream->head_bytes <= stream->stored_bytes && stream->redactions <= NUMBER_MOST / 2;
}

bool
ending_is_possible(const struct run_end *end)
{
	const uint64_t numbers[] = { end->started_us, end->ended_us, end->duration_us, end->user_us,
	    end->system_us, end->max_rss_kb, end->memory_peak, end->layers, end->denied };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (numbers[i] > NUMBER_MOST)
			return false;
	return end->outcome > 0 && end->outcome < OUTCOME_COUNT && end->exit_code >= -1 &&
	    end->exit_code <= 255 && end->signal >= 0 && end->signal <= 64 &&
	    end->stage < STAGE_COUNT && end->error >= 0 && end->error <= 4095 &&
	    stream_is_possible(&end->out) && stream_is_possible(&end->err);
}

/* Digests only where there was a stream at all. */
static void
set_digest(struct bytes *digest, const uint8_t sha256[32])
{
	static const uint8_t none[32];

	bytes_free(digest);
	*digest =
	    memcmp(sha256, none, sizeof(none)) == 0 ? bytes_copy(NULL, 0) : bytes_copy(sha256, 32);
}

static void
fill_attempt(struct attempt *attempt, const struct run_end *end, uint64_t now_us)
{
	if (end->started_us)
		attempt->started_us = (int64_t)end->started_us;
	attempt->ended_us = (int64_t)(end->ended_us ? end->ended_us : now_us);
	attempt->outcome = end->outcome;
	attempt->exit_code = end->exit_code;
	attempt->signal = end->signal;
	attempt->stage = end->stage;
	attempt->error = end->error;
	attempt->flags = end->flags;
	attempt->duration_us = (int64_t)end->duration_us;
	attempt->user_us = (int64_t)end->user_us;
	attempt->system_us = (int64_t)end->system_us;
	attempt->max_rss_kb = (int64_t)end->max_rss_kb;
	if (end->layers)
		attempt->layers = (int64_t)end->layers;
	attempt->out_bytes = (int64_t)end->out.bytes;
	attempt->out_stored = (int64_t)end->out.stored_bytes;
	attempt->out_head = (int64_t)end->out.head_bytes;
	attempt->err_bytes = (int64_t)end->err.bytes;
	attempt->err_stored = (int64_t)end->err.stored_bytes;
	attempt->err_head = (int64_t)end->err.head_bytes;
	attempt->redactions = (int64_t)(end->out.redactions + end->err.redactions);
	set_digest(&attempt->out_sha256, end->out.sha256);
	set_digest(&attempt->err_sha256, end->err.sha256);
}

/* The daemons ended before anything of the job was made. */
static bool
was_never_begun(const struct attempt *attempt)
{
	return attempt->outcome == OUTCOME_REFUSED && attempt->stage == STAGE_STOPPED;
}

/* Of the runs before this one, in a row. */
static unsigned
never_begun_before(struct broker *broker, const struct attempt *attempt)
{
	unsigned count = 0;
	bool same = true;

	while (same && count < RETURNS_MOST) {
		struct attempt before;

		same = attempts_one(broker->store, attempt->job, attempt->number - 1 - count, &before) &&
		    was_never_begun(&before);
		count += same;
		attempts_free(&before);
	}
	return count;
}

/*
 * Such a run costs no attempt, unless many before it came to the same: then it may be this job that
 * ends the daemons.
 */
static bool
will_return(struct broker *broker, const struct job *job, const struct attempt *attempt)
{
	return was_never_begun(attempt) && job->cancel_us == 0 &&
	    never_begun_before(broker, attempt) < RETURNS_MOST;
}

/*
 * A job that was asked to end or that made a protected path is not tried again; a lost run only
 * where the approved job says so.
 */
static bool
will_retry(const struct job *job, uint32_t outcome)
{
	return outcome != OUTCOME_SUCCEEDED && outcome != OUTCOME_CANCELLED &&
	    outcome != OUTCOME_VIOLATED &&
	    (outcome != OUTCOME_LOST || job->retry_safe) && job->attempts < job->max_attempts &&
	    job->cancel_us == 0;
}

static enum job_step
last_step(const struct job *job, const struct attempt *attempt)
{
	switch (attempt->outcome) {
	case OUTCOME_SUCCEEDED:
		return STEP_SUCCEED;
	case OUTCOME_CANCELLED:
		return STEP_END_CANCELLED;
	case OUTCOME_LOST:
		return STEP_LOSE;
	default:
		return was_never_begun(attempt) && job->cancel_us ? STEP_END_CANCELLED : STEP_FAIL;
	}
}

/* Which step the job takes; its attempts and when it comes back. */
static enum job_step
next_step(struct broker *broker, struct job *job, struct attempt *attempt, uint64_t now_us)
{
	uint32_t random;

	if (will_return(broker, job, attempt)) {
		job->attempts--;
		return job->attempts > 0 ? STEP_AWAIT_RETRY : STEP_RETURN;
	}
	if (!will_retry(job, (uint32_t)attempt->outcome))
		return last_step(job, attempt);
	random_bytes(&random, sizeof(random));
	job->available_us = (int64_t)(now_us + job_backoff_us(job->attempts, random));
	attempt->next_try_us = job->available_us;
	return STEP_AWAIT_RETRY;
}

static void
change_job(struct broker *broker, struct job *job, struct attempt *attempt, uint64_t now_us)
{
	enum job_step step = next_step(broker, job, attempt, now_us);
	bool failed = step != STEP_RETURN && step != STEP_END_CANCELLED;

	if (!job_take(step, &job->status, &job->approval))
		fatal("store: job %lld ended but did not run", (long long)job->seq);
	job->updated_us = (int64_t)now_us;
	job->slot = -1;
	free(job->worker);
	job->worker = NULL;
	free(job->error_class);
	job->error_class = bytes_text(failed ? ending_error_class((uint32_t)attempt->outcome) : NULL);
	free(job->result);
	job->result = result_text(broker, job, attempt);
}

void
ending_store(struct broker *broker, struct job *job, struct attempt *attempt,
    const struct run_end *end)
{
	uint64_t now_us = clock_realtime_us(), sn;
	bool lost = end->outcome == OUTCOME_LOST;

	if (!ending_is_possible(end))
		fatal("breach by executor: an end that cannot be");
	fill_attempt(attempt, end, now_us);
	change_job(broker, job, attempt, now_us);
	store_begin(broker->store);
	sn = outbox_add(&broker->outbox, lost ? "job.lost" : "job.finished",
	    lost ? record_lost(job, attempt) : record_finished(job, attempt), false, job->seq);
	job->effect_sn = (int64_t)sn;
	attempts_change(broker->store, attempt);
	jobs_change(broker->store, job);
	if (job_is_finished(job->status))
		order_job_ended(broker, job);
	else
		order_enter(broker, job, job->status == JOB_RETRY_WAIT ? "retry" : "returned");
	outbox_commit(&broker->outbox);
}
