/* Answers to what the executor says. */
#include <inttypes.h>
#include <string.h>

#include "fields.h"
#include "log.h"
#include "text.h"

#include "auditor.h"
#include "compose.h"
#include "outward.h"

static void
require_greeting(const struct auditor *auditor, const char *what)
{
	if (!auditor->executor.greeted)
		fatal("breach by executor: %s before EXECUTOR_HELLO", what);
}

static void
require_run(const struct run_name *run)
{
	if (run->attempt == 0 || run->slot >= LIMIT_SLOTS)
		fatal("breach by executor: a run without attempt or slot");
}

void
auditor_on_executor_hello(struct auditor *auditor, const struct message *message)
{
	struct message answer = { .type = MSG_EXECUTOR_WELCOME };

	(void)message;
	if (auditor->executor.greeted)
		fatal("breach by executor: a second EXECUTOR_HELLO");
	auditor->executor.greeted = true;
	answer.body.executor_welcome.head_seq = auditor->pen.chain.next_seq - 1;
	auditor_answer(&auditor->executor, &answer);
}

/* --- intents ------------------------------------------------------------------------- */

static void
refuse_intent(struct auditor *auditor, const struct run_name *run, enum record_refusal code)
{
	struct message answer = { .type = MSG_INTENT_REFUSED };

	answer.body.intent_refused.run = *run;
	answer.body.intent_refused.code = code;
	auditor_answer(&auditor->executor, &answer);
}

/* A power cut can take back the broker's note that its dispatch was recorded: then it sends the plan again. */
static bool
has_intent(const struct auditor *auditor, const char *job, uint32_t attempt)
{
	const struct dispatch_run *run = dispatch_find(&auditor->dispatch, job, attempt);

	return run && run->state >= DISPATCH_INTENT;
}

/* Nobody dispatched this, or not this digest, or it has run already: on record, and no. */
static void
refuse_unbacked(struct auditor *auditor, const struct run_name *run, const char *job, const char *spec)
{
	log_error("an intent of job %s that the broker did not dispatch is refused", job);
	if (!auditor->pen.low)
		pen_note(&auditor->pen, "log.refused", "{\"src\":\"executor\",\"code\":\"unbacked\",\"job\":\"%s\","
		    "\"attempt\":%" PRIu32 ",\"spec_sha256\":\"%s\"}", job, run->attempt, spec);
	refuse_intent(auditor, run, has_intent(auditor, job, run->attempt) ? REFUSAL_TAKEN : REFUSAL_UNBACKED);
}

static void
permit_intent(struct auditor *auditor, const struct msg_intent_declare *intent, const void *facts, size_t length)
{
	struct message answer = { .type = MSG_INTENT_PERMITTED };
	struct msg_intent_permitted *permitted = &answer.body.intent_permitted;
	char body[LIMIT_RECORD_BODY];
	const char *why;

	length = compose_intent(body, &intent->run, intent->digest, facts, length);
	if (length == 0)
		fatal("breach by executor: INTENT_DECLARE with other facts than an intent's");
	why = pen_write(&auditor->pen, RECORD_EXECUTOR, "exec.intent", body, length, &permitted->seq, NULL);
	if (why)
		fatal("exec.intent: %s", why);
	permitted->run = intent->run;
	memcpy(permitted->digest, intent->digest, sizeof(permitted->digest));
	if (!outward_withhold(auditor, &answer))
		auditor_answer(&auditor->executor, &answer);
}

static void
judge_intent(struct auditor *auditor, const struct msg_intent_declare *intent, const void *facts, size_t length)
{
	char job[TEXT_UUID], spec[65];

	text_uuid(job, intent->run.job);
	text_hex(spec, intent->digest, sizeof(intent->digest));
	if (!dispatch_permits(&auditor->dispatch, job, intent->run.attempt, spec))
		refuse_unbacked(auditor, &intent->run, job, spec);
	else if (auditor->pen.low)
		refuse_intent(auditor, &intent->run, REFUSAL_FULL);
	else
		permit_intent(auditor, intent, facts, length);
}

void
auditor_on_intent_declare(struct auditor *auditor, const struct message *message)
{
	const struct msg_intent_declare *intent = &message->body.intent_declare;
	const void *facts;
	size_t length;

	require_greeting(auditor, "INTENT_DECLARE");
	require_run(&intent->run);
	facts = sealed_map(message->descriptors[0], LIMIT_FIELDS_BYTES, &length);
	if (!facts)
		fatal("breach by executor: facts that are not sealed, or too large");
	judge_intent(auditor, intent, facts, length);
	sealed_unmap(facts, length);
}

/* --- facts ---------------------------------------------------------------------------- */

/* The seq under which this is on record already, or 0: only the log's own lines come first. */
static uint64_t
known_seq(const struct auditor *auditor, const struct msg_fact_append *append)
{
	char job[TEXT_UUID];
	const struct dispatch_run *run;

	text_uuid(job, append->run.job);
	run = dispatch_find(&auditor->dispatch, job, append->run.attempt);
	if (!run)
		return 0;
	if (run->state == DISPATCH_ENDED && append->fact != FACT_SIGNAL)
		return run->seq;
	return run->state == DISPATCH_STARTED && append->fact == FACT_STARTED ? run->seq : 0;
}

static uint64_t
write_line(struct auditor *auditor, const char *type, const char *body, size_t length)
{
	const char *why;
	uint64_t seq;

	why = pen_write(&auditor->pen, RECORD_EXECUTOR, type, body, length, &seq, NULL);
	if (why)
		fatal("%s: %s", type, why);
	return seq;
}

/* The end of a run is two lines of one commit: what it wrote, and how it ended. */
static uint64_t
write_fact(struct auditor *auditor, const struct msg_fact_append *append, const void *facts, size_t length)
{
	char body[LIMIT_RECORD_BODY], output[LIMIT_RECORD_BODY];
	size_t size = compose_fact(body, &append->run, append->fact, facts, length), output_size = 0;

	if (size == 0)
		fatal("breach by executor: FACT_APPEND with other facts than its kind's");
	if (append->fact == FACT_ENDED)
		output_size = compose_output(output, &append->run, facts, length);
	if (output_size > 0)
		write_line(auditor, "exec.output", output, output_size);
	return write_line(auditor, compose_fact_type(append->fact), body, size);
}

void
auditor_on_fact_append(struct auditor *auditor, const struct message *message)
{
	const struct msg_fact_append *append = &message->body.fact_append;
	struct message answer = { .type = MSG_FACT_RECORDED };
	const void *facts;
	size_t length;

	require_greeting(auditor, "FACT_APPEND");
	require_run(&append->run);
	facts = sealed_map(message->descriptors[0], LIMIT_FIELDS_BYTES, &length);
	if (!facts)
		fatal("breach by executor: facts that are not sealed, or too large");
	answer.body.fact_recorded.token = append->token;
	answer.body.fact_recorded.seq = known_seq(auditor, append);
	if (answer.body.fact_recorded.seq == 0)
		answer.body.fact_recorded.seq = write_fact(auditor, append, facts, length);
	sealed_unmap(facts, length);
	auditor_answer(&auditor->executor, &answer);
}
