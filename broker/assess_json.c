/* An assessment as clients see it. */
#include <stdlib.h>
#include <string.h>

#include "cage_text.h"
#include "run_as.h"
#include "scope.h"
#include "text.h"

#include "assess.h"
#include "broker.h"
#include "hidden.h"
#include "job.h"
#include "methods.h"
#include "order.h"
#include "present.h"
#include "result.h"
#include "rules.h"

static struct json *
add_program(struct json *object, const char *key, const struct plan_program *program)
{
	struct json *one = json_add_object(object, key);
	char hex[2 * DIGEST_BYTES + 1];

	json_add_text(one, "named", program->named);
	json_add_text(one, "target", program->target);
	json_add_text(one, "kind", program->kind == PROGRAM_PINNED ? "pinned" : "copied");
	text_hex(hex, program->sha256, DIGEST_BYTES);
	json_add_text(one, "sha256", hex);
	return one;
}

static void
add_programs(struct json *object, const struct assessment *assessment)
{
	struct json *program;

	if (!assessment->program_known) {
		json_add_null(object, "program");
		return;
	}
	program = add_program(object, "program", &assessment->answer.program);
	if (assessment->answer.has_interpreter)
		add_program(program, "interpreter", &assessment->answer.interpreter);
}

static void
add_rule(struct json *object, const struct policy *policy, const struct policy_answer *decision)
{
	struct json *failed;

	if (policy && decision->rule >= 0) {
		json_add(object, "matched_rule", policy_rule_json(policy, decision->rule));
		json_add_integer(object, "rule_index", decision->rule);
	} else {
		json_add_null(object, "matched_rule");
		json_add_null(object, "rule_index");
	}
	failed = json_add_array(object, "failed");
	for (size_t i = 0; i < decision->failed_count && i < POLICY_FAILED_MOST; i++) {
		struct json *one = json_add_object(failed, NULL);

		if (decision->failed[i].rule >= 0)
			json_add_integer(one, "rule", decision->failed[i].rule);
		else
			json_add_null(one, "rule");
		json_add_text(one, "text", decision->failed[i].text);
	}
}

static void
add_limits(struct json *object, const struct job *job, const struct policy_limits *limits)
{
	struct json *all = json_add_object(object, "limits");

	json_add_integer(all, "timeout_seconds", job->timeout_seconds);
	json_add_integer(all, "grace_ms", (int64_t)limits->grace_ms);
	json_add_integer(all, "keep_bytes", (int64_t)limits->keep_bytes);
	json_add_integer(all, "output_bytes", (int64_t)limits->output_bytes);
	json_add_integer(all, "file_bytes", (int64_t)limits->file_bytes);
	json_add_integer(all, "cpu_seconds", (int64_t)limits->cpu_seconds);
	json_add_integer(all, "cpu_percent", (int64_t)limits->cpu_percent);
	json_add_integer(all, "idle_ms", (int64_t)limits->idle_ms);
	json_add_integer(all, "open_files", (int64_t)limits->open_files);
	json_add_integer(all, "processes", (int64_t)limits->processes);
	json_add_integer(all, "memory_bytes", (int64_t)limits->memory_bytes);
	json_add_integer(all, "tmp_bytes", (int64_t)limits->tmp_bytes);
}

/* The plan's own variables when there is a plan: what a job would get, NAME=value. */
static void
add_environment(struct json *object, const struct job *job, const struct assessment *assessment)
{
	struct json *list = json_add_array(object, "environment");
	struct fields_reader reader;
	struct field field;

	if (!assessment->planned) {
		for (const char *at = jobs_list_next(&job->environment, NULL); at;
		    at = jobs_list_next(&job->environment, at))
			json_add_bytes(list, NULL, at, strlen(at));
		return;
	}
	if (!fields_open(&reader, PLAN_MAGIC, assessment->plan.bytes, assessment->plan.length))
		return;
	while (fields_next(&reader, &field))
		if (field.tag == PLAN_ENV)
			json_add_bytes(list, NULL, field.bytes, field.length);
}

/* Would `run` start it now, just as it was approved? */
static bool
is_ready(const struct job *job, const struct assessment *assessment)
{
	return assess_allows(assessment) && job_is_waiting(job->status) &&
	    job->approval == APPROVAL_APPROVED && order_is_due(job) &&
	    job->approved_sha256.length == DIGEST_BYTES &&
	    memcmp(job->approved_sha256.at, assessment->digest, DIGEST_BYTES) == 0;
}

/* In words, as the executor will store it with the run; null when nothing would run. */
static void
add_cage(const struct broker *broker, struct json *object, const struct job *job,
    const struct assessment *assessment)
{
	const struct boot_root *root = methods_root_of(broker, job->cwd);
	struct cage_facts facts = { .layers = run_as_layers(&broker->boot, root, broker->layers),
		.landlock_abi = broker->landlock_abi,
		.read_only = root && root->flags & ROOT_READ_ONLY,
		.nested = root ? root->flags & ROOT_NESTED : 0,
		.run_as_owner = run_as_owner(&broker->boot, root), .owner = root ? root->uid : 0,
		.group = root ? root->gid : 0 };
	scoped_free char *text = bytes_make(CAGE_TEXT_BYTES);
	scoped_free char *clean = NULL;

	if (assessment->planned)
		memcpy(facts.filter_sha256, broker->filter_sha256[assessment->decision.cage.profile]
		    [assessment->decision.cage.network], sizeof(facts.filter_sha256));
	if (assessment->planned && cage_text(assessment->plan.bytes, assessment->plan.length, &facts,
	    text)) {
		clean = result_repair(text, strlen(text));
		json_add_text(object, "cage", clean);
	} else
		json_add_null(object, "cage");
}

static void
add_plan(struct json *object, const struct job *job, const struct assessment *assessment)
{
	struct bytes digest = { .at = (unsigned char *)(uintptr_t)assessment->digest,
	    .length = assessment->planned ? DIGEST_BYTES : 0 };

	present_digest(object, "spec_digest", &digest);
	if (assessment->planned) {
		json_add_text(object, "profile",
		    profile_row(assessment->decision.cage.profile)->name);
		add_limits(object, job, &assessment->decision.limits);
	} else {
		json_add_null(object, "profile");
		json_add_null(object, "limits");
	}
	add_environment(object, job, assessment);
}

struct json *
assess_json(struct broker *broker, const struct job *job, const struct assessment *assessment,
    bool with_command)
{
	struct json *object = json_object();
	char uuid[TEXT_UUID], digest[72];

	text_uuid(uuid, job->id.at);
	json_add_text(object, "job_id", uuid);
	json_add_boolean(object, "allowed", assess_allows(assessment));
	json_add_text(object, "verdict", assess_verdict(assessment));
	json_add_text(object, "reason", assessment->reason);
	if (with_command)
		hidden_add_command(object, "command", job);
	json_add_text(object, "cwd", job->cwd);
	json_add_integer(object, "timeout", job->timeout_seconds);
	add_rule(object, broker->rules.policy, &assessment->decision);
	add_programs(object, assessment);
	json_add_text(object, "approval_status", job_approval_name(job->approval));
	json_add_boolean(object, "execution_ready", is_ready(job, assessment));
	add_plan(object, job, assessment);
	if (with_command)
		add_cage(broker, object, job, assessment);
	json_add_text(object, "policy_digest", rules_digest_text(broker, digest) ? digest : NULL);
	rules_warn(broker, json_add_array(object, "warnings"));
	return object;
}
