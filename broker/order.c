/* The order of the queue beyond priority and time. */
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "text.h"

#include "broker.h"
#include "job.h"
#include "needs.h"
#include "order.h"
#include "record.h"

/* --- why not now --- */

static bool
same_text(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

/* A group that the policy does not know (any more) is one job wide. */
static bool
group_is_full(const struct broker *broker, const char *group)
{
	unsigned running = 0, most = 1;

	if (!group)
		return false;
	if (broker->rules.policy && policy_group(broker->rules.policy, group) > 0)
		most = policy_group(broker->rules.policy, group);
	for (unsigned i = 0; i < LIMIT_SLOTS; i++)
		running += broker->slots[i].used && same_text(broker->slots[i].group, group);
	return running >= most;
}

static bool
mutex_is_taken(const struct broker *broker, const char *mutex)
{
	for (unsigned i = 0; mutex && i < LIMIT_SLOTS; i++)
		if (broker->slots[i].used && same_text(broker->slots[i].mutex, mutex))
			return true;
	return false;
}

uint32_t
order_blocks(const struct broker *broker, const struct job *job)
{
	return (job->held ? ORDER_HELD : 0u) | (broker->paused ? ORDER_PAUSED : 0u) |
	    (job->needs > 0 ? ORDER_NEEDS : 0u) |
	    (group_is_full(broker, job->group_name) ? ORDER_GROUP : 0u) |
	    (mutex_is_taken(broker, job->mutex) ? ORDER_MUTEX : 0u);
}

bool
order_is_due(const struct job *job)
{
	return job_is_due(job->status, job->created_us, job->available_us,
	    (int64_t)clock_realtime_us());
}

void
order_add_names(struct json *names, uint32_t blocks)
{
	static const struct { uint32_t block; const char *name; } texts[] = {
		{ ORDER_HELD, "hold" }, { ORDER_PAUSED, "paused" }, { ORDER_NEEDS, "job" },
		{ ORDER_GROUP, "group" }, { ORDER_MUTEX, "mutex" },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (blocks & texts[i].block)
			json_add_text(names, NULL, texts[i].name);
}

void
order_pause(struct broker *broker, bool paused)
{
	letters_set_held(broker->store, paused);
	broker->paused = paused;
}

/* --- in the queue --- */

/* What keeps it for now.  Free slots are left out: they change with every moment. */
static struct json *
waiting_for(const struct broker *broker, const struct job *job)
{
	struct json *names = json_array();

	if (job->available_us > (int64_t)clock_realtime_us())
		json_add_text(names, NULL, job->status == JOB_RETRY_WAIT ? "retry" : "delay");
	order_add_names(names, order_blocks(broker, job));
	return names;
}

/* The answer to what brought it there does not wait for this: the log has it right behind. */
void
order_enter(struct broker *broker, const struct job *job, const char *cause)
{
	struct json *after = json_array();

	order_add_needs(broker, job, after);
	if (json_count(after) == 0) {
		json_free(after);
		after = NULL;
	}
	outbox_add(&broker->outbox, "job.queued",
	    record_queued(job, cause, jobs_ahead(broker->store, job, RECORD_AHEAD_MOST),
	        waiting_for(broker, job), after),
	    false, job->seq);
}

/* --- jobs that wait for others --- */

enum order_want
order_want_of(const char *name)
{
	static const char *const names[] = { "", "ok", "any", "notok" };

	for (enum order_want want = ORDER_WANT_OK; want <= ORDER_WANT_NOT_OK; want++)
		if (strcmp(name, names[want]) == 0)
			return want;
	return 0;
}

static bool
is_met(const struct job *on, enum order_want want)
{
	return want == ORDER_WANT_ANY || (want == ORDER_WANT_OK) == (on->status == JOB_SUCCEEDED);
}

bool
order_need(struct broker *broker, struct job *job, const struct job *on, enum order_want want)
{
	bool ended = job_is_finished(on->status);

	if (ended && !is_met(on, want))
		return false;
	needs_add(broker->store, job->seq, on->seq, want);
	if (ended)
		needs_meet(broker->store, job->seq, on->seq);
	else
		job->needs++;
	return true;
}

/* What it waited for can never be. */
static void
end_in_vain(struct broker *broker, struct job *job, const struct job *on)
{
	struct json *result = json_object();
	char uuid[TEXT_UUID], text[100];

	text_uuid(uuid, on->id.at);
	text_format(text, sizeof(text), "it waited for job %s, which ended otherwise", uuid);
	json_add_text(result, "error", text);
	free(job->result);
	job->result = json_print(result, NULL);
	json_free(result);
	free(job->error_class);
	job->error_class = bytes_text("dependency");
	if (!job_take(STEP_ABANDON, &job->status, &job->approval))
		fatal("store: job %lld waits and does not", (long long)job->seq);
	job->effect_sn = (int64_t)outbox_add(&broker->outbox, "job.dead",
	    record_verdict(job, NULL, false, text), false, job->seq);
}

static void
tell_one(struct broker *broker, int64_t seq, const struct job *on, enum order_want want)
{
	struct job job;
	bool met = is_met(on, want);

	if (!jobs_by_seq(broker->store, seq, &job))
		fatal("store: a job is gone");
	if (met)
		needs_meet(broker->store, seq, on->seq);
	else
		needs_in_vain(broker->store, seq, on->seq);
	if (job_is_waiting(job.status)) {
		job.updated_us = (int64_t)clock_realtime_us();
		job.needs -= job.needs > 0;
		if (!met)
			end_in_vain(broker, &job, on);
		jobs_change(broker->store, &job);
		if (met && job.needs == 0 && job.approval == APPROVAL_APPROVED)
			order_enter(broker, &job, "needs");
		operation_job_changed(broker, job.id.at);
		if (!met)
			order_job_ended(broker, &job); /* as deep as jobs wait for each other */
	}
	jobs_free(&job);
}

void
order_job_ended(struct broker *broker, const struct job *job)
{
	enum order_want want;
	int64_t waiting;

	/* One at a time: the statement must not be in use while others are told in turn. */
	while (needs_next_on(broker->store, job->seq, &waiting, &want))
		tell_one(broker, waiting, job, want);
}

static void
add_need(void *context, const struct need *need)
{
	static const char *const names[] = { "", "ok", "any", "notok" };
	struct json *one = json_add_object(context, NULL);
	char uuid[TEXT_UUID];

	text_uuid(uuid, need->id);
	json_add_text(one, "job_id", uuid);
	json_add_text(one, "want", names[need->want]);
	json_add_boolean(one, "met", need->met);
}

void
order_add_needs(struct broker *broker, const struct job *job, struct json *list)
{
	needs_each(broker->store, job->seq, add_need, list);
}
