/* What would run, and does the policy allow it? */
#include <stdlib.h>
#include <string.h>

#include "limits.h"
#include "log.h"
#include "scope.h"
#include "text.h"

#include "assess.h"
#include "broker.h"
#include "hidden.h"
#include "methods.h"
#include "owner.h"
#include "rules.h"
#include "submission.h"

#define PAUSE_US 100000 /* after ASSESS_BUSY */

/* --- the question --- */

static void
put_rule_programs(struct fields_writer *question, const struct policy *policy, const char *argv0)
{
	size_t count = policy_programs(policy, argv0, NULL, 0);
	scoped_free const char **programs = bytes_make(count * sizeof(*programs));

	policy_programs(policy, argv0, programs, count);
	for (size_t i = 0; i < count; i++)
		fields_put_text(question, ASSESS_RULE_PROGRAM, programs[i]);
}

/* False: there is nothing to ask (no policy, outside every root, no such path can exist). */
static bool
make_question(const struct broker *broker, const struct job *job, struct fields_writer *question)
{
	const struct policy *policy = broker->rules.policy;
	const struct boot_root *root = methods_root_of(broker, job->cwd);
	const char *argv0 = jobs_list_next(&job->argv, NULL);

	if (!policy || !root || strlen(argv0) >= LIMIT_PATH)
		return false;
	fields_begin(question, ASSESS_QUESTION_MAGIC);
	fields_put_text(question, ASSESS_ROOT, root->path);
	fields_put_text(question, ASSESS_CWD, job->cwd);
	fields_put_u64(question, ASSESS_CWD_DEV, (uint64_t)job->cwd_dev);
	fields_put_u64(question, ASSESS_CWD_INO, (uint64_t)job->cwd_ino);
	fields_put_u64(question, ASSESS_CWD_BIRTH_NS, (uint64_t)job->cwd_birth_ns);
	fields_put(question, ASSESS_CWD_HANDLE, job->cwd_handle.at, job->cwd_handle.length);
	fields_put_text(question, ASSESS_PROGRAM, argv0);
	fields_put_text(question, ASSESS_PATH, policy_search_path(policy));
	if (!job->hook) /* a hook's program is its own rule */
		put_rule_programs(question, policy, argv0);
	return true;
}

static void
send_question(struct broker *broker, struct operation *operation)
{
	struct message message = { .type = MSG_PROGRAM_ASSESS };
	scoped_close int fd = fields_seal(&operation->assessment->question, "question");

	if (fd < 0)
		fatal("assess: no memfd");
	message.body.program_assess.question = operation->question;
	message.descriptors[0] = fd;
	channel_must_send(&broker->executor, &message);
	operation->assessment->sent = true;
	broker->questions_out++;
}

uint64_t
assess_tick(struct broker *broker)
{
	if (broker->question_pause_us) {
		if (clock_monotonic_us() < broker->question_pause_us)
			return broker->question_pause_us;
		broker->question_pause_us = 0;
	}
	for (struct operation *at = broker->operations; at; at = at->next)
		if (at->question && at->assessment && !at->assessment->sent &&
		    broker->questions_out < ASSESS_AT_ONCE)
			send_question(broker, at);
	return 0;
}

/* --- the verdict --- */

/* The job that is assessed: a stored one (read into *loaded) or the one that is being submitted. */
static const struct job *
job_of(struct operation *operation, struct job *loaded)
{
	memset(loaded, 0, sizeof(*loaded));
	if (operation->submission)
		return &operation->submission->job;
	return jobs_by_id(operation->broker->store, operation->job, loaded) ? loaded : NULL;
}

/* The elements as pointers; free() them. */
static const char **
list_of(const struct bytes *list, size_t more)
{
	const char **elements = bytes_make((jobs_list_count(list) + more + 1) * sizeof(*elements));
	size_t count = 0;

	for (const char *at = jobs_list_next(list, NULL); at; at = jobs_list_next(list, at))
		elements[count++] = at;
	return elements;
}

/* The sentence for a person; what kept us from asking the executor at all is said first. */
static void
explain(const struct broker *broker, const struct job *job, struct assessment *assessment)
{
	char *reason = assessment->reason;
	size_t size = sizeof(assessment->reason);
	uint64_t flags;

	text_copy(reason, size, assessment->decision.reason);
	if (!broker->rules.policy)
		text_format(reason, size, "no policy is loaded: %s", broker->rules.error);
	else if (!methods_root_of(broker, job->cwd)) {
		assessment->decision.verdict = VERDICT_WORKDIR;
		text_copy(reason, size,
		    rules_lost_root(broker, job->cwd, &flags)
		        ? "the root of the working directory could not be used at the start: the "
		          "log says why"
		        : "the working directory is outside every root of the policy");
	} else if (assessment->status == ASSESS_WORKDIR)
		text_copy(reason, size,
		    "the working directory is not (or no longer) the one that was proposed");
	else if (assessment->foreign)
		text_copy(reason, size, "the program, its interpreter or a directory above one of them "
		    "lies with the system's but does not belong to root alone");
}

static void
decide(struct operation *operation, const struct job *job)
{
	struct assessment *assessment = operation->assessment;
	scoped_free const char **argv = list_of(&job->argv, 0);
	scoped_free const char **environment = list_of(&job->environment, 0);
	struct policy_request request = { .argv = argv,
		.argc = jobs_list_count(&job->argv),
		.cwd = job->cwd,
		.timeout_seconds = (uint64_t)job->timeout_seconds,
		.program_known = assessment->program_known,
		.hook = job->hook,
		.environment = environment,
		.environment_count = jobs_list_count(&job->environment) };

	if (assessment->program_known) {
		text_copy(request.program.named, LIMIT_PATH, assessment->answer.program.named);
		text_copy(request.program.target, LIMIT_PATH, assessment->answer.program.target);
		request.program_sha256 = assessment->answer.program.sha256;
		request.pinned = assessment->answer.program.kind == PROGRAM_PINNED;
		request.interpreter_pinned = !assessment->answer.has_interpreter ||
		    assessment->answer.interpreter.kind == PROGRAM_PINNED;
		request.rule_programs = assessment->answer.rule_programs;
		request.rule_program_count = assessment->answer.rule_program_count;
	}
	policy_decide(operation->broker->rules.policy, &request, &assessment->decision);
	explain(operation->broker, job, assessment);
	if (assessment->decision.verdict == VERDICT_ALLOWED)
		assess_cage(operation->broker, methods_root_of(operation->broker, job->cwd), assessment);
}

static bool
is_fixed(const struct policy *policy, const char *variable)
{
	size_t name = strcspn(variable, "=") + 1;

	for (size_t i = 0; i < policy_fixed_count(policy); i++)
		if (strncmp(policy_fixed_at(policy, i), variable, name) == 0)
			return true;
	return false;
}

/* What every job gets, then the caller's own; what is fixed cannot be replaced. */
static size_t
make_environment(const struct policy *policy, const struct job *job, const char **environment)
{
	size_t count = 0;

	for (size_t i = 0; i < policy_fixed_count(policy); i++)
		environment[count++] = policy_fixed_at(policy, i);
	for (const char *at = jobs_list_next(&job->environment, NULL); at;
	     at = jobs_list_next(&job->environment, at))
		if (!is_fixed(policy, at))
			environment[count++] = at;
	return count;
}

static void
put_secrets(struct plan_source *source, const struct job *job, struct plan_secret secrets[LIMIT_SECRETS])
{
	source->secret_count = hidden_count(job);
	source->secret_key = source->secret_count > 0 ? hidden_key(job) : NULL;
	source->secrets = secrets;
	for (size_t i = 0; i < source->secret_count; i++)
		secrets[i] = hidden_at(job, i);
}

static void
make_plan(struct operation *operation, const struct job *job, const void *raw, size_t raw_length)
{
	struct broker *broker = operation->broker;
	struct assessment *assessment = operation->assessment;
	const struct policy *policy = broker->rules.policy;
	const struct boot_root *root = methods_root_of(broker, job->cwd);
	size_t argc = jobs_list_count(&job->argv);
	scoped_free const char **argv = list_of(&job->argv, 0);
	scoped_free size_t *lengths = bytes_make(argc * sizeof(*lengths));
	scoped_free const char **environment =
	    list_of(&job->environment, policy_fixed_count(policy));
	struct plan_secret secrets[LIMIT_SECRETS];
	struct plan_source source = { .policy_sha256 = policy_digest(policy),
		.cage = &assessment->decision.cage,
		.root = root->path,
		.cwd = job->cwd,
		.cwd_dev = (uint64_t)job->cwd_dev,
		.cwd_ino = (uint64_t)job->cwd_ino,
		.cwd_birth_ns = (uint64_t)job->cwd_birth_ns,
		.cwd_handle = job->cwd_handle.at,
		.cwd_handle_length = job->cwd_handle.length,
		.argv = argv,
		.arg_lengths = lengths,
		.argc = argc,
		.environment = environment,
		.answer = raw,
		.answer_length = raw_length,
		.audit_loss = policy_audit_loss(policy), .retry_safe = job->retry_safe != 0,
		.input = job->stdin_bytes.at, .input_length = job->stdin_bytes.length,
		.timeout_ms = (uint64_t)job->timeout_seconds * 1000,
		.limits = &assessment->decision.limits };

	for (size_t i = 0; i < argc; i++)
		lengths[i] = strlen(argv[i]);
	put_secrets(&source, job, secrets);
	source.environment_count = make_environment(policy, job, environment);
	assessment->planned = plan_encode(&source, &assessment->plan);
	if (assessment->planned)
		digest_take(assessment->digest, assessment->plan.bytes, assessment->plan.length);
	else
		text_copy(assessment->reason, sizeof(assessment->reason),
		    "the policy allows it, but it is larger than a plan may be");
}

/*
 * The answer is there (or there is none): decide, and make the plan.  A job that was pruned
 * meanwhile is for resume() to miss.
 */
static void
conclude(struct operation *operation, const void *raw, size_t raw_length)
{
	struct assessment *assessment = operation->assessment;
	struct job loaded;
	const struct job *job = job_of(operation, &loaded);

	if (job)
		decide(operation, job);
	if (job && assessment->decision.verdict == VERDICT_ALLOWED && assessment->program_known)
		make_plan(operation, job, raw, raw_length);
	jobs_free(&loaded);
	operation->question = 0;
	operation->woken = true;
}

/* Ask, or conclude at once. */
static void
start(struct operation *operation)
{
	struct broker *broker = operation->broker;
	struct job loaded;
	const struct job *job = job_of(operation, &loaded);

	assess_free(operation->assessment);
	operation->assessment = bytes_make(sizeof(*operation->assessment));
	operation->assessment->generation = broker->rules.generation;
	if (job && make_question(broker, job, &operation->assessment->question)) {
		operation->assessment->asked = true;
		operation->question = ++broker->last_question;
		assess_tick(broker);
	} else
		conclude(operation, NULL, 0);
	jobs_free(&loaded);
}

void
assess_begin(struct operation *operation, const struct job *job,
    void (*resume)(struct operation *operation))
{
	memcpy(operation->job, job->id.at, sizeof(operation->job));
	operation_await(operation, WAIT_WOKEN, resume);
	start(operation);
}

void
assess_free(struct assessment *assessment)
{
	if (!assessment)
		return;
	plan_free_answer(&assessment->answer);
	fields_free(&assessment->plan);
	fields_free(&assessment->question);
	free(assessment);
}

/* What runs in place must be what only root can change; a copy is nobody else's anyway. */
static bool
is_foreign(const struct plan_program *program)
{
	return program->kind == PROGRAM_PINNED && !owner_is_root(program->target);
}

/* ASSESS_OK carries an answer; anything else in its place is a breach. */
static void
take_answer(struct operation *operation, int fd)
{
	struct assessment *assessment = operation->assessment;
	size_t length;
	const void *raw = sealed_map(fd, LIMIT_FIELDS_BYTES, &length);

	if (!raw || !plan_read_answer(raw, length, &assessment->answer))
		fatal("breach by executor: PROGRAM_ASSESSED is not an answer");
	assessment->foreign = is_foreign(&assessment->answer.program) ||
	    (assessment->answer.has_interpreter && is_foreign(&assessment->answer.interpreter));
	assessment->program_known = !assessment->foreign;
	conclude(operation, raw, length);
	sealed_unmap(raw, length);
}

void
assess_answered(struct broker *broker, const struct msg_program_assessed *answer, int fd)
{
	struct operation *operation = operation_of_question(broker, answer->question);

	if (broker->questions_out == 0 || answer->question == 0 ||
	    answer->question > broker->last_question)
		fatal("breach by executor: PROGRAM_ASSESSED was not asked for");
	broker->questions_out--;
	if (!operation) /* its client has left */
		return;
	if (!operation->assessment || !operation->assessment->sent)
		fatal("breach by executor: PROGRAM_ASSESSED was not asked for");
	if (answer->status == ASSESS_BUSY) {
		operation->assessment->sent = false;
		broker->question_pause_us = clock_monotonic_us() + PAUSE_US;
	} else if (operation->assessment->generation != broker->rules.generation)
		start(operation); /* the policy has changed meanwhile */
	else {
		operation->assessment->status = (enum assess_status)answer->status;
		if (answer->status == ASSESS_OK)
			take_answer(operation, fd);
		else
			conclude(operation, NULL, 0);
	}
}

bool
assess_allows(const struct assessment *assessment)
{
	return assessment->decision.verdict == VERDICT_ALLOWED && assessment->planned;
}

const char *
assess_verdict(const struct assessment *assessment)
{
	static const char *const names[VERDICT_COUNT] = {
		[VERDICT_ALLOWED] = "allowed", [VERDICT_NO_POLICY] = "no_policy",
		[VERDICT_NO_PROGRAM] = "program_unavailable", [VERDICT_TIMEOUT] = "timeout",
		[VERDICT_NO_RULE] = "no_rule", [VERDICT_DENIED_RULE] = "denied_rule",
		[VERDICT_ARGUMENT] = "denied_argument", [VERDICT_WORKDIR] = "outside_roots",
		[VERDICT_ENVIRONMENT] = "environment", [VERDICT_CAGE] = "cage_unavailable",
	};

	if (assessment->status == ASSESS_WORKDIR)
		return "workdir_changed";
	if (assessment->decision.verdict == VERDICT_ALLOWED && !assessment->planned)
		return "too_large";
	return names[assessment->decision.verdict];
}
