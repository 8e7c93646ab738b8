/* Facts for the auditor, news for the broker. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "digest.h"
#include "facts.h"
#include "fields.h"
#include "keep.h"
#include "landlock.h"
#include "log.h"
#include "text.h"

#include "executor.h"
#include "report.h"
#include "tell.h"

#define VIOLATIONS_BYTES 1024 /* auditor/compose.c takes no more */

/* Send with the fields as a sealed memfd. */
static void
send_fields(const struct attempt *attempt, struct message *message, struct fields_writer *writer)
{
	int fd = fields_seal(writer, "facts");

	fields_free(writer);
	if (fd < 0)
		fatal("facts: %s", strerror(errno));
	message->descriptors[0] = fd;
	channel_must_send(&attempt->executor->auditor, message);
	close(fd);
}

static uint64_t
send_fact(const struct attempt *attempt, enum fact fact, struct fields_writer *writer)
{
	struct message message = { .type = MSG_FACT_APPEND };
	uint64_t token = ++attempt->executor->tokens;

	message.body.fact_append = (struct msg_fact_append){ .token = token, .run = attempt->run,
		.fact = fact };
	send_fields(attempt, &message, writer);
	return token;
}

static void
put_environment(struct fields_writer *writer, const struct plan *plan)
{
	struct digest_state state;
	uint8_t sha256[DIGEST_BYTES];

	digest_begin(&state);
	for (size_t i = 0; i < plan->envc; i++)
		digest_add(&state, plan->envp[i], strlen(plan->envp[i]) + 1);
	digest_end(&state, sha256);
	fields_put(writer, FACT_ENV_SHA256, sha256, sizeof(sha256));
}

/* "tcp-ports 53 443" */
static void
put_network(struct fields_writer *writer, const struct plan *plan)
{
	char text[FACT_NETWORK_BYTES];
	size_t length;

	text_copy(text, sizeof(text), network_name(plan->network));
	for (unsigned i = 0; i < plan->ports.count; i++) {
		length = strlen(text);
		text_format(text + length, sizeof(text) - length, " %u", plan->ports.list[i]);
	}
	fields_put_text(writer, FACT_NETWORK, text);
}

/* Is this element one that nobody shows? */
static bool
is_secret(const struct plan *plan, size_t element)
{
	for (size_t i = 0; i < plan->secret_count; i++)
		if (plan->secrets[i].element == element)
			return true;
	return false;
}

/* What is secret leaves this process as an HMAC only. */
static void
put_arguments(struct fields_writer *writer, const struct plan *plan)
{
	char hex[2 * DIGEST_BYTES + 1];
	uint8_t mac[DIGEST_BYTES];

	for (size_t i = 0; i < plan->argc; i++) {
		if (is_secret(plan, i)) {
			digest_hmac(mac, plan->secret_key, plan->argv[i], strlen(plan->argv[i]));
			text_hex(hex, mac, sizeof(mac));
		}
		fields_put_text(writer, FACT_ARG, is_secret(plan, i) ? hex : plan->argv[i]);
	}
}

static void
put_secrets(struct fields_writer *writer, const struct plan *plan)
{
	for (size_t i = 0; i < plan->argc; i++)
		if (is_secret(plan, i))
			fields_put_u64(writer, FACT_ARG_SECRET, i);
}

static void
put_limits(struct fields_writer *writer, const struct plan *plan)
{
	const struct fact_limits limits = { .timeout_ms = plan->timeout_ms, .grace_ms = plan->grace_ms,
		.keep_bytes = plan->keep_bytes, .output_bytes = plan->output_bytes,
		.file_bytes = plan->file_bytes, .cpu_seconds = plan->cpu_seconds,
		.open_files = plan->open_files, .processes = plan->processes,
		.memory_bytes = plan->memory_bytes, .tmp_bytes = plan->tmp_bytes,
		.idle_ms = plan->idle_ms, .cpu_percent = plan->cpu_percent };

	fields_put(writer, FACT_LIMITS, &limits, sizeof(limits));
}

void
tell_intent(const struct attempt *attempt)
{
	struct message message = { .type = MSG_INTENT_DECLARE };
	const struct plan *plan = &attempt->plan;
	struct fields_writer writer;

	fields_begin(&writer, FACTS_MAGIC);
	put_arguments(&writer, plan);
	fields_put_text(&writer, FACT_CWD, plan->cwd);
	put_environment(&writer, plan);
	fields_put_u64(&writer, FACT_UID, attempt->executor->jobs[attempt->run.slot].uid);
	fields_put_text(&writer, FACT_PROGRAM_TARGET, plan->program.target);
	fields_put_u64(&writer, FACT_PROGRAM_DEV, plan->program.dev);
	fields_put_u64(&writer, FACT_PROGRAM_INO, plan->program.ino);
	fields_put(&writer, FACT_PROGRAM_SHA256, plan->program.sha256, 32);
	fields_put_text(&writer, FACT_PROFILE, profile_row(plan->profile)->name);
	put_network(&writer, plan);
	put_secrets(&writer, plan);
	fields_put(&writer, FACT_POLICY_SHA256, plan->policy_sha256, sizeof(plan->policy_sha256));
	put_limits(&writer, plan);
	message.body.intent_declare.run = attempt->run;
	memcpy(message.body.intent_declare.digest, attempt->digest, 32);
	send_fields(attempt, &message, &writer);
}

void
tell_started(const struct attempt *attempt, uint64_t started_us, uint64_t layers)
{
	struct landlock_attr handled = landlock_job(attempt->executor->landlock_abi,
	    attempt->plan.network);
	struct message message = { .type = MSG_RUN_STARTED };
	struct fields_writer writer;

	fields_begin(&writer, FACTS_MAGIC);
	fields_put_u64(&writer, FACT_TIME_US, started_us);
	fields_put_u64(&writer, FACT_LAYERS, layers);
	fields_put_u64(&writer, FACT_LANDLOCK_ABI, (uint64_t)attempt->executor->landlock_abi);
	fields_put(&writer, FACT_FILTER_SHA256,
	    report_digest(attempt->plan.profile, attempt->plan.network), 32);
	fields_put(&writer, FACT_LANDLOCK_HANDLED, &handled, sizeof(handled));
	send_fact(attempt, FACT_STARTED, &writer);
	message.body.run_started = (struct msg_run_started){ attempt->run, started_us, layers };
	channel_must_send(&attempt->executor->broker, &message);
}

void
tell_stop(const struct attempt *attempt)
{
	struct fields_writer writer;

	fields_begin(&writer, FACTS_MAGIC);
	fields_put_u64(&writer, FACT_SIGNAL_NUMBER, SIGTERM);
	send_fact(attempt, FACT_SIGNAL, &writer);
}

/* As much of the file as a fact holds. */
static void
put_violations(struct fields_writer *writer, const struct attempt *attempt)
{
	char text[VIOLATIONS_BYTES] = "protected paths";

	if (attempt->folder >= 0)
		runs_read(&attempt->executor->runs[attempt->run.slot], attempt->folder,
		    KEEP_VIOLATED, text, sizeof(text) - 1);
	fields_put_text(writer, FACT_DETAIL, text);
}

void
tell_end(struct attempt *attempt)
{
	struct fields_writer writer;
	enum fact fact = FACT_ENDED;

	fields_begin(&writer, FACTS_MAGIC);
	if (attempt->end.outcome == OUTCOME_REFUSED) {
		fact = FACT_REFUSED;
		fields_put_u64(&writer, FACT_STAGE, attempt->end.stage);
		fields_put_u64(&writer, FACT_ERROR, (uint64_t)attempt->end.error);
	} else if (attempt->end.outcome == OUTCOME_LOST) {
		fact = FACT_LOST;
		fields_put_text(&writer, FACT_DETAIL, attempt->folder < 0 ?
		    "no run folder" : "no keeper and no result");
	} else {
		fields_put(&writer, FACT_END, &attempt->end, sizeof(attempt->end));
		if (attempt->end.outcome == OUTCOME_VIOLATED)
			put_violations(&writer, attempt);
	}
	attempt->token = send_fact(attempt, fact, &writer);
}

void
tell_broker(const struct attempt *attempt)
{
	struct message message = { 0 };

	if (attempt->end.outcome == OUTCOME_REFUSED) {
		message.type = MSG_RUN_REFUSED;
		message.body.run_refused = (struct msg_run_refused){ attempt->run,
			attempt->end.stage, attempt->end.error };
	} else if (attempt->end.outcome == OUTCOME_LOST) {
		message.type = MSG_RUN_LOST;
		message.body.run_lost.run = attempt->run;
	} else {
		message.type = MSG_RUN_ENDED;
		message.body.run_ended.run = attempt->run;
		message.body.run_ended.end = attempt->end;
	}
	channel_must_send(&attempt->executor->broker, &message);
}

void
tell_lives(const struct attempt *attempt)
{
	struct message message = { .type = MSG_RUN_LIVES };

	message.body.run_lives.run = attempt->run;
	channel_must_send(&attempt->executor->broker, &message);
}
