/* What several methods need. */
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "text.h"

#include "assess.h"
#include "broker.h"
#include "job.h"
#include "methods.h"
#include "present.h"
#include "order.h"
#include "weigh.h"

/* As launch made us: getuid() is not among our system calls. */
struct record_who
methods_ourselves(const struct broker *broker, const char *by)
{
	return (struct record_who){ broker->boot.broker_uid, broker->boot.broker_gid, getpid(), by };
}

struct record_who
methods_who(const struct operation *operation, const char *by)
{
	const struct client *client = operation->client;

	if (!client)
		return methods_ourselves(operation->broker, "broker");
	return (struct record_who){ client->uid, client->gid, client->pid, by };
}

const struct boot_root *
methods_root_of(const struct broker *broker, const char *path)
{
	const struct boot_root *best = NULL;

	for (unsigned i = 0; i < broker->boot.root_count; i++) {
		const struct boot_root *root = &broker->boot.roots[i];

		if (!(root->flags & ROOT_EXTRA) && text_path_within(path, root->path) &&
		    (!best || strlen(root->path) > strlen(best->path)))
			best = root;
	}
	return best;
}

bool
methods_may_change(struct operation *operation)
{
	const char *why;

	if (outbox_accepts(&operation->broker->outbox, &why))
		return true;
	operation_refuse(operation, "audit_integrity_error", "%s: nothing new is taken", why);
	return false;
}

bool
methods_may_propose(struct operation *operation)
{
	const char *why;

	if (outbox_takes_jobs(&operation->broker->outbox, &why))
		return true;
	operation_refuse(operation, "audit_integrity_error", "%s: nothing new is taken", why);
	return false;
}

bool
methods_load(struct operation *operation, struct job *job)
{
	if (jobs_by_id(operation->broker->store, operation->job, job))
		return true;
	operation_refuse(operation, "job_not_found", "there is no such job any more: it was pruned");
	return false;
}

void
methods_answer_job(struct operation *operation)
{
	struct job job;
	struct json *answer;

	if (!methods_load(operation, &job))
		return;
	answer = present_job(operation->broker, &job);
	jobs_free(&job);
	operation_answer(operation, answer);
}

void
methods_answer_job_after(struct operation *operation, uint64_t sn)
{
	operation_await_record(operation, sn, methods_answer_job);
}

uint64_t
methods_step(struct broker *broker, struct job *job, const char *type, struct json *d, bool seal,
    const struct decision *decision)
{
	return methods_step_into_queue(broker, job, type, d, seal, decision, NULL);
}

uint64_t
methods_step_into_queue(struct broker *broker, struct job *job, const char *type, struct json *d,
    bool seal, const struct decision *decision, const char *cause)
{
	uint64_t sn;

	store_begin(broker->store);
	sn = outbox_add(&broker->outbox, type, d, seal, job->seq);
	job->effect_sn = (int64_t)sn;
	jobs_change(broker->store, job);
	if (decision)
		attempts_decided(broker->store, job->seq, decision);
	if (job_is_finished(job->status))
		order_job_ended(broker, job);
	if (cause)
		order_enter(broker, job, cause);
	outbox_commit(&broker->outbox);
	operation_job_changed(broker, job->id.at);
	return sn;
}

void
methods_bind_plan(struct broker *broker, struct job *job, const struct assessment *assessment)
{
	uint64_t lasts_us = policy_approval_seconds(broker->rules.policy) * 1000000;

	bytes_free(&job->plan);
	bytes_free(&job->spec_sha256);
	bytes_free(&job->approved_sha256);
	job->plan = bytes_copy(assessment->plan.bytes, assessment->plan.length);
	job->spec_sha256 = bytes_copy(assessment->digest, DIGEST_BYTES);
	job->approved_sha256 = bytes_copy(assessment->digest, DIGEST_BYTES);
	job->approval_expires_us = lasts_us ? (int64_t)(weigh_now_us(broker) + lasts_us) : 0;
}

uint64_t
methods_note(struct broker *broker, const struct job *job, const char *type, struct json *d)
{
	uint64_t sn;

	store_begin(broker->store);
	sn = outbox_add(&broker->outbox, type, d, false, job->seq);
	outbox_commit(&broker->outbox);
	return sn;
}
