/* A stored job as clients see it. */
#include <stdlib.h>
#include <signal.h>
#include <string.h>

#include "digest.h"
#include "log.h"
#include "run.h"
#include "run_as.h"
#include "text.h"

#include "broker.h"
#include "dispatch.h"
#include "hidden.h"
#include "job.h"
#include "methods.h"
#include "present.h"
#include "order.h"
#include "rules.h"

void
present_digest(struct json *object, const char *key, const struct bytes *digest)
{
	char text[72] = "sha256:";

	if (digest->length != DIGEST_BYTES) {
		json_add_null(object, key);
		return;
	}
	text_hex(text + 7, digest->at, DIGEST_BYTES);
	json_add_text(object, key, text);
}

void
present_time(struct json *object, const char *key, int64_t microseconds)
{
	if (microseconds)
		json_add_seconds(object, key, microseconds);
	else
		json_add_null(object, key);
}

void
present_layers(struct json *object, const char *key, uint64_t layers)
{
	struct json *names = json_add_array(object, key);

	for (unsigned bit = 0; bit < LAYER_COUNT; bit++)
		if (layers >> bit & 1)
			json_add_text(names, NULL, layer_name(bit));
}

/* JSON of our own making, as it was stored. */
static void
add_stored(struct json *object, const char *key, const char *text)
{
	struct json_error error;
	struct json *value;

	if (!text) {
		json_add_null(object, key);
		return;
	}
	value = json_parse(text, strlen(text), &error);
	if (!value)
		fatal("store: %s is not JSON", key);
	json_add(object, key, value);
}

static void
add_stored_digest(struct json *object, const char *key, const struct bytes *digest)
{
	char hex[2 * DIGEST_BYTES + 1];

	if (digest->length != DIGEST_BYTES) {
		json_add_null(object, key);
		return;
	}
	text_hex(hex, digest->at, DIGEST_BYTES);
	json_add_text(object, key, hex);
}

static const char *
outcome_text(const struct attempt *attempt)
{
	if (attempt->outcome)
		return outcome_name((uint32_t)attempt->outcome);
	return attempt->started_us ? "running" : "starting";
}

/* Why it ended so, in a few words; NULL when the outcome says it all. */
static const char *
reason_text(const struct attempt *attempt)
{
	if (attempt->outcome == OUTCOME_LOST)
		return attempt->started_us ? "it had started; nobody knows how it ended" :
		    "nobody knows whether it started";
	if (attempt->outcome == OUTCOME_REFUSED && attempt->stage == STAGE_MINIMUM)
		return "a layer of the policy's minimum is missing; layers has those that there are";
	if (attempt->outcome == OUTCOME_REFUSED && attempt->stage == STAGE_STOPPED)
		return "the daemons ended before anything of it was begun";
	if (attempt->outcome == OUTCOME_VIOLATED)
		return "violated: a protected path was made or replaced, see the result";
	if (attempt->outcome == OUTCOME_LIMIT)
		return attempt->flags & END_CPU_TIME || attempt->signal == SIGXCPU ? "its limit of CPU time" :
		    attempt->signal == SIGXFSZ ? "its limit of a file's size" : "its limit of output";
	if (attempt->flags & END_IDLE)
		return "idle: no output for as long as its limit allows";
	if (attempt->flags & END_CAPTURE_FAULT)
		return "its output could not be stored whole";
	if (attempt->flags & END_PROCESSES)
		return "it met its limit of processes";
	if (attempt->flags & END_LEFTOVERS)
		return "processes outlived the main one and were ended";
	return attempt->flags & END_FORCED ? "it did not end on TERM" : NULL;
}

/* Which start of the host it ran under: after another one it cannot still run. */
static void
add_boot(struct json *one, const struct attempt *attempt)
{
	char uuid[TEXT_UUID];

	if (attempt->boot_id.length != 16) { /* dispatched by an older version */
		json_add_null(one, "boot_id");
		return;
	}
	text_uuid(uuid, attempt->boot_id.at);
	json_add_text(one, "boot_id", uuid);
}

struct attempt_list {
	struct json *array;
	const struct boot *boot;
	const struct boot_root *root; /* of the job; NULL: it lies in none any more */
};

/* Did it run as the owner of its root?  Before it has begun: will it? */
static bool
is_owners(const struct attempt_list *list, const struct attempt *attempt)
{
	return attempt->layers ? list->boot->mode != MODE_WORKSPACE_USER && !(attempt->layers & LAYER_OWN_UID) :
	    run_as_owner(list->boot, list->root);
}

/*
 * Under which uid it ran, as the kernel's own records name it: that of its slot, for good (launch/uids.c), or
 * of its root's owner, which the policy of then would have to tell where it is not that way any more.
 */
static void
add_uid(struct json *one, const struct attempt_list *list, const struct attempt *attempt)
{
	const struct boot *boot = list->boot;

	if (is_owners(list, attempt) && run_as_owner(boot, list->root))
		json_add_integer(one, "uid", list->root->uid);
	else if (!is_owners(list, attempt) && attempt->slot >= 0 && attempt->slot < boot->slot_count)
		json_add_integer(one, "uid", boot->slots[attempt->slot].job);
	else
		json_add_null(one, "uid");
}

static void
add_attempt(void *context, const struct attempt *attempt)
{
	const struct attempt_list *list = context;
	struct json *one = json_add_object(list->array, NULL);
	bool ended = attempt->outcome != 0;

	json_add_integer(one, "attempt", attempt->number);
	present_time(one, "started_at", attempt->started_us);
	present_time(one, "ended_at", attempt->ended_us);
	if (ended && attempt->started_us)
		json_add_integer(one, "duration_ms", attempt->duration_us / 1000);
	else
		json_add_null(one, "duration_ms");
	json_add_text(one, "outcome", outcome_text(attempt));
	if (attempt->exit_code >= 0)
		json_add_integer(one, "exit_code", attempt->exit_code);
	else
		json_add_null(one, "exit_code");
	if (attempt->signal)
		json_add_integer(one, "signal", attempt->signal);
	else
		json_add_null(one, "signal");
	json_add_text(one, "stage", attempt->stage ? stage_name((uint32_t)attempt->stage) : NULL);
	json_add_text(one, "error", attempt->error ? strerror((int)attempt->error) : NULL);
	json_add_text(one, "reason", reason_text(attempt));
	present_time(one, "next_try_at", attempt->next_try_us);
	present_layers(one, "layers", (uint64_t)attempt->layers);
	json_add_integer(one, "user_ms", attempt->user_us / 1000);
	json_add_integer(one, "system_ms", attempt->system_us / 1000);
	json_add_integer(one, "max_rss_kb", attempt->max_rss_kb);
	add_stored_digest(one, "stdout_sha256", &attempt->out_sha256);
	add_stored_digest(one, "stderr_sha256", &attempt->err_sha256);
	json_add_integer(one, "stdout_bytes", attempt->out_bytes);
	json_add_integer(one, "stderr_bytes", attempt->err_bytes);
	json_add_integer(one, "redactions", attempt->redactions);
	json_add_text(one, "worker", attempt->worker);
	add_uid(one, list, attempt);
	add_boot(one, attempt);
}

static void
add_decision(void *context, const struct decision *decision)
{
	struct json *one = json_add_object(context, NULL);

	json_add_text(one, "decision", decision->decision);
	json_add_seconds(one, "at", decision->at_us);
	json_add_text(one, "by", decision->by);
	if (decision->uid >= 0)
		json_add_integer(one, "uid", decision->uid);
	else
		json_add_null(one, "uid");
	json_add_text(one, "reason", decision->reason);
	present_digest(one, "spec_digest", &decision->digest);
	add_stored(one, "changes", decision->changes);
}

static void
add_waiting(struct broker *broker, struct json *object, const struct job *job)
{
	struct json *list = json_add_array(object, "waiting_for");

	if (job_is_finished(job->status))
		return;
	if (job->effect_sn >= 0 && !outbox_is_settled(&broker->outbox, (uint64_t)job->effect_sn))
		json_add_text(list, NULL, "audit");
	if (job->status == JOB_RUNNING)
		return;
	if (job->hook)
		json_add_text(list, NULL, "hook");
	else if (job->approval != APPROVAL_APPROVED)
		json_add_text(list, NULL, "approval");
	if (!order_is_due(job))
		json_add_text(list, NULL, job->status == JOB_RETRY_WAIT ? "retry" : "delay");
	else if (!job->hook && job->approval == APPROVAL_APPROVED && !order_blocks(broker, job))
		json_add_text(list, NULL, dispatch_has_slot(broker) ? "worker" : "slot");
	order_add_names(list, order_blocks(broker, job));
}

/* The first system's fields, in its order. */
static void
add_first_fields(struct json *object, const struct job *job)
{
	char uuid[TEXT_UUID];

	text_uuid(uuid, job->id.at);
	json_add_text(object, "id", uuid);
	json_add_text(object, "idempotency_key", job->key);
	hidden_add_command(object, "command", job);
	json_add_text(object, "status", job_status_name(job->status));
	json_add_seconds(object, "created_at", job->created_us);
	json_add_seconds(object, "updated_at", job->updated_us);
	json_add_seconds(object, "available_at", job->available_us);
	json_add_integer(object, "attempts", job->attempts);
	json_add_integer(object, "max_attempts", job->max_attempts);
	json_add_integer(object, "timeout", job->timeout_seconds);
	json_add_text(object, "cwd", job->cwd);
	json_add_text(object, "lease_owner", job->worker);
	json_add_null(object, "lease_until");
	add_stored(object, "result", job->result);
	json_add_text(object, "error_class", job->error_class);
	json_add_text(object, "approval_status", job_approval_name(job->approval));
	json_add_text(object, "decided_by", job->decided_by);
	present_time(object, "decided_at", job->decided_us);
	json_add_text(object, "decision_reason", job->decision_reason);
	json_add_text(object, "source", job->hook ? "hook" : job->source);
}

struct json *
present_job(struct broker *broker, const struct job *job)
{
	struct json *object = json_object(), *submitter;

	add_first_fields(object, job);
	json_add_text(object, "schema", "agent-safe.job/1");
	present_digest(object, "spec_digest", &job->spec_sha256);
	json_add_text(object, "hook", job->hook);
	json_add_text(object, "label", job->label);
	json_add_text(object, "meta", job->meta);
	json_add_integer(object, "priority", job->priority);
	json_add_text(object, "retry", job->retry_safe ? "safe" : "never");
	json_add_text(object, "group", job->group_name);
	json_add_text(object, "mutex", job->mutex);
	json_add_boolean(object, "held", job->held != 0);
	present_time(object, "expires_at", job->expires_us);
	order_add_needs(broker, job, json_add_array(object, "after"));
	submitter = json_add_object(object, "submitter");
	json_add_integer(submitter, "uid", job->submitter_uid);
	json_add_integer(submitter, "gid", job->submitter_gid);
	json_add_integer(submitter, "pid", job->submitter_pid);
	json_add_boolean(object, "self_approved", job->self_approved != 0);
	json_add_boolean(object, "cancel_requested",
	    job->status == JOB_RUNNING && job->cancel_us != 0);
	present_time(object, "approval_expires_at", job->approval_expires_us);
	add_waiting(broker, object, job);
	attempts_each(broker->store, job->seq, add_attempt,
	    &(struct attempt_list){ json_add_array(object, "attempts_log"), &broker->boot,
	    methods_root_of(broker, job->cwd) });
	attempts_each_decision(broker->store, job->seq, add_decision,
	    json_add_array(object, "decisions"));
	rules_warn(broker, json_add_array(object, "warnings"));
	return object;
}
