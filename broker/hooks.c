/* The policy's hooks: from an event on record to a run. */
#include <stdlib.h>
#include <string.h>

#include "limits.h"
#include "log.h"
#include "scope.h"
#include "text.h"

#include "assess.h"
#include "broker.h"
#include "dispatch.h"
#include "event.h"
#include "hooks.h"
#include "job.h"
#include "methods.h"
#include "record.h"

#define METHOD "job.run"
#define STORE_EVERY 256 /* records without a listener: after a crash they are looked at again */

void
hooks_load(struct broker *broker)
{
	struct letters_state state;

	letters_state(broker->store, &state);
	broker->hooks = (struct hooks){ .sn = state.hook_sn, .stored = state.hook_sn,
		.skipped = state.hook_skipped, .due = true };
	bytes_free(&state.policy_sha256);
}

/* Inside a transaction. */
static void
store_place(struct broker *broker)
{
	letters_set_hooks(broker->store, broker->hooks.sn, broker->hooks.skipped);
	broker->hooks.stored = broker->hooks.sn;
}

void
hooks_renew(struct broker *broker, uint64_t sn)
{
	broker->hooks.sn = (int64_t)sn;
	store_place(broker);
}

/* --- an event becomes a job --- */

/* The line that it reads: the event as watch tells it, under the name that was listened for. */
static struct bytes
make_line(const struct json *event, const char *name, int64_t skipped)
{
	struct json *line = json_object();
	struct bytes bytes;
	size_t length;
	char *text;

	json_add_text(line, "event", name);
	for (size_t i = 0; i < json_count(event); i++)
		json_add(line, json_key_at(event, i), json_copy(json_at(event, i)));
	json_add_integer(line, "skipped", skipped);
	text = json_print(line, &length);
	json_free(line);
	if (length + 1 > LIMIT_STDIN_BYTES)
		fatal("hooks: an event of %zu bytes", length);
	bytes = bytes_copy(text, length + 1);
	bytes.at[length] = '\n';
	free(text);
	return bytes;
}

static struct bytes
make_argv(const struct policy_hook *hook)
{
	struct bytes argv;
	size_t length = 0;

	for (size_t i = 0; i < hook->argc; i++)
		length += strlen(hook->argv[i]) + 1;
	argv = (struct bytes){ .at = bytes_make(length + 1), .length = length };
	length = 0;
	for (size_t i = 0; i < hook->argc; i++) {
		memcpy(argv.at + length, hook->argv[i], strlen(hook->argv[i]) + 1);
		length += strlen(hook->argv[i]) + 1;
	}
	return argv;
}

/* Nobody proposed it but the broker; it works where the event's job does. */
static void
fill_job(struct job *job, const struct policy_hook *hook, const struct job *about, const char *name)
{
	uint8_t id[16];
	char uuid[TEXT_UUID];

	jobs_new_id(id);
	text_uuid(uuid, id);
	job->id = bytes_copy(id, sizeof(id));
	job->key = bytes_text(uuid);
	job->argv = make_argv(hook);
	job->environment = bytes_copy(NULL, 0);
	job->secrets = bytes_copy(NULL, 0);
	job->cwd = bytes_text(about->cwd);
	job->cwd_dev = about->cwd_dev;
	job->cwd_ino = about->cwd_ino;
	job->cwd_birth_ns = about->cwd_birth_ns;
	job->cwd_handle = bytes_copy(about->cwd_handle.at, about->cwd_handle.length);
	job->timeout_seconds = (int64_t)hook->timeout_seconds;
	job->max_attempts = 1;
	job->source = bytes_text("cli");
	job->hook = bytes_text(name);
	job->created_us = job->updated_us = job->available_us = (int64_t)clock_realtime_us();
	job->status = JOB_QUEUED;
	job->approval = APPROVAL_PENDING;
	job->slot = -1;
	job->decided_uid = -1;
	job->effect_sn = -1;
	job->plan = bytes_copy(NULL, 0);
	job->spec_sha256 = bytes_copy(NULL, 0);
	job->approved_sha256 = bytes_copy(NULL, 0);
}

/* Inside a transaction. */
static void
propose(struct broker *broker, size_t index, const struct job *about, const struct json *event,
    const char *name)
{
	struct policy_hook hook = policy_hook_at(broker->rules.policy, index);
	struct record_who who = methods_ourselves(broker, NULL);
	struct job job = { 0 };

	fill_job(&job, &hook, about, name);
	job.submitter_uid = who.uid;
	job.submitter_gid = who.gid;
	job.submitter_pid = who.pid;
	job.stdin_bytes = make_line(event, name, broker->hooks.skipped);
	jobs_add(broker->store, &job);
	job.effect_sn = (int64_t)outbox_add(&broker->outbox, "job.proposed", record_hook(&job, event),
	    false, job.seq);
	jobs_change(broker->store, &job);
	jobs_free(&job);
}

/* One transaction: the jobs, and that this record has been told. */
static void
tell(struct broker *broker, const struct job *about, const struct json *event)
{
	const struct policy *policy = broker->rules.policy;
	int64_t waiting = jobs_hooks_waiting(broker->store);
	const char *names[EVENT_NAMES];
	char closer[48];

	event_names(event, closer, names);
	store_begin(broker->store);
	for (size_t i = 0; i < policy_hook_count(policy); i++) {
		const char *name = policy_hook_hears(policy, i, names);

		if (name && waiting >= LIMIT_HOOKS_WAITING)
			broker->hooks.skipped++;
		else if (name) {
			propose(broker, i, about, event, name);
			waiting++;
		}
	}
	store_place(broker);
	outbox_commit(&broker->outbox);
}

static bool
is_heard(const struct broker *broker, const struct json *event)
{
	const char *names[EVENT_NAMES];
	char closer[48];

	event_names(event, closer, names);
	for (size_t i = 0; i < policy_hook_count(broker->rules.policy); i++)
		if (policy_hook_hears(broker->rules.policy, i, names))
			return true;
	return false;
}

/* Does somebody listen, and is it about a job that is no hook's itself? */
static void
tell_if_heard(struct broker *broker, const struct letter *letter)
{
	struct json *event = json_object();
	struct job about;

	event_add(event, letter);
	if (is_heard(broker, event) && jobs_by_seq(broker->store, letter->job, &about)) {
		if (!about.hook)
			tell(broker, &about, event);
		jobs_free(&about);
	}
	json_free(event);
}

void
hooks_recorded(struct broker *broker, const struct letter *letter)
{
	struct hooks *hooks = &broker->hooks;
	const struct policy *policy = broker->rules.policy;

	if ((int64_t)letter->sn <= hooks->sn)
		return;
	hooks->sn = (int64_t)letter->sn;
	if (policy && policy_hook_count(policy) > 0 && letter->job > 0)
		tell_if_heard(broker, letter);
	if (hooks->sn - hooks->stored >= STORE_EVERY) {
		store_begin_unsynced(broker->store);
		store_place(broker);
		store_commit(broker->store);
	}
}

void
hooks_catch_up(struct broker *broker)
{
	struct letter letter;

	while (outbox_is_settled(&broker->outbox, (uint64_t)(broker->hooks.sn + 1)) &&
	    letters_from(broker->store, (uint64_t)(broker->hooks.sn + 1), &letter)) {
		hooks_recorded(broker, &letter);
		letters_free(&letter);
	}
}

void
hooks_close(struct broker *broker)
{
	store_begin_unsynced(broker->store);
	store_place(broker);
	store_commit(broker->store);
}

/* --- the policy decides --- */

static void
bury(struct broker *broker, struct job *job, const char *reason)
{
	struct json *result = json_object();

	if (!job_take(STEP_ABANDON, &job->status, &job->approval))
		fatal("store: hook %lld cannot be buried", (long long)job->seq);
	json_add_text(result, "error", reason);
	free(job->result);
	job->result = json_print(result, NULL);
	json_free(result);
	free(job->error_class);
	job->error_class = bytes_text("policy_denied");
	methods_step(broker, job, "job.dead", record_verdict(job, NULL, false, reason), false, NULL);
}

/* As a person's yes is stored, but that it is the policy's, word for word. */
static void
approve(struct broker *broker, struct job *job, const struct assessment *assessment)
{
	struct record_who who = methods_ourselves(broker, "policy");
	struct decision decision = { .at_us = job->updated_us, .decision = "approved", .by = who.by,
		.uid = who.uid };

	if (!job_take(STEP_APPROVE, &job->status, &job->approval))
		fatal("store: hook %lld cannot be approved", (long long)job->seq);
	methods_bind_plan(broker, job, assessment);
	job->decided_us = job->updated_us;
	job->decided_uid = who.uid;
	free(job->decided_by);
	job->decided_by = bytes_text(who.by);
	decision.digest = job->approved_sha256;
	methods_step_into_queue(broker, job, "job.approved",
	    record_hook_approved(job, &who, policy_digest(broker->rules.policy)), true, &decision,
	    "approved");
}

static void
hook_assessed(struct operation *operation)
{
	struct broker *broker = operation->broker;
	const struct assessment *assessment = operation->assessment;
	struct job job;

	if (!methods_load(operation, &job))
		return;
	job.updated_us = (int64_t)clock_realtime_us();
	/* Somebody may have cancelled or held it meanwhile. */
	if (broker->rules.policy && !job.held &&
	    job_may(STEP_APPROVE, job.status, job.approval)) {
		if (assess_allows(assessment))
			approve(broker, &job, assessment);
		else
			bury(broker, &job, assessment->reason);
	}
	jobs_free(&job);
	operation_answer(operation, json_object());
}

static void
begin_assessment(struct operation *operation)
{
	struct job job;

	if (!methods_load(operation, &job))
		return;
	assess_begin(operation, &job, hook_assessed);
	jobs_free(&job);
}

/* --- one step at a time --- */

static bool
may_go_on(const struct broker *broker)
{
	const char *why;

	return broker->hooks.due && broker->serving && broker->rules.policy && !broker->paused &&
	    outbox_accepts(&broker->outbox, &why) && operation_own_count(broker, METHOD) == 0 &&
	    dispatch_has_slot(broker);
}

/* Whatever this step comes to, its record wakes us for the next. */
void
hooks_tick(struct broker *broker)
{
	struct job job;

	if (!may_go_on(broker))
		return;
	broker->hooks.due = false;
	if (!jobs_next_hook(broker->store, &job))
		return;
	if (outbox_is_settled(&broker->outbox, (uint64_t)job.effect_sn) && job.status == JOB_QUEUED)
		operation_begin_own(broker, METHOD, "hook", job.id.at,
		    job.approval == APPROVAL_APPROVED ? methods_run_own : begin_assessment);
	jobs_free(&job);
}

void
hooks_add_status(struct broker *broker, struct json *object)
{
	const struct policy *policy = broker->rules.policy;

	json_add_integer(object, "configured", policy ? (int64_t)policy_hook_count(policy) : 0);
	json_add_integer(object, "waiting", jobs_hooks_waiting(broker->store));
	json_add_integer(object, "failed", jobs_hooks_failed(broker->store));
	json_add_integer(object, "skipped", broker->hooks.skipped);
}
