/* What the auditor answers. */
#include <errno.h>
#include <string.h>

#include "log.h"

#include "adopt.h"
#include "executor.h"
#include "report.h"
#include "start.h"
#include "tell.h"

/* Of every profile and network that the bounds allow; the others stay zero. */
static void
put_filters(struct msg_executor_ready *ready)
{
	for (enum profile profile = PROFILE_STRICT; profile < PROFILE_COUNT; profile++)
		for (enum network network = NETWORK_NONE; network < NETWORK_COUNT; network++) {
			const uint8_t *digest = report_digest(profile, network);

			if (digest)
				memcpy(ready->filter_sha256[profile][network], digest, 32);
		}
}

static void
tell_ready(const struct executor *executor)
{
	struct message message = { .type = MSG_EXECUTOR_READY };

	message.body.executor_ready = (struct msg_executor_ready){ .layers = start_layers(executor),
		.landlock_abi = (uint32_t)executor->landlock_abi,
		.slots = executor->boot.slot_count };
	put_filters(&message.body.executor_ready);
	channel_must_send(&executor->broker, &message);
}

void
executor_on_executor_welcome(struct executor *executor, struct attempt *from,
    const struct message *message)
{
	(void)from;
	(void)message;
	if (executor->welcomed)
		fatal("breach by auditor: welcome twice");
	executor->welcomed = true;
	tell_ready(executor);
	adopt_all(executor);
}

void
executor_on_intent_permitted(struct executor *executor, struct attempt *from,
    const struct message *message)
{
	const struct msg_intent_permitted *permit = &message->body.intent_permitted;
	struct attempt *attempt = attempt_find(executor, &permit->run);
	struct run_end cancelled = attempt_plain_end(OUTCOME_CANCELLED);

	(void)from;
	if (!attempt || attempt->state != ATTEMPT_INTENT ||
	    memcmp(attempt->digest, permit->digest, 32) != 0)
		fatal("breach by auditor: permitted what was not asked");
	if (attempt->stop)
		attempt_conclude(attempt, &cancelled);
	else
		start_permitted(attempt);
}

/* In the result beside "stage": "audit". */
static int
error_of(uint32_t code)
{
	switch (code) {
	case REFUSAL_FULL:
		return ENOSPC;
	case REFUSAL_UNWITNESSED:
		return ETIMEDOUT;
	default:
		return EPERM;
	}
}

void
executor_on_intent_refused(struct executor *executor, struct attempt *from,
    const struct message *message)
{
	struct attempt *attempt = attempt_find(executor, &message->body.intent_refused.run);

	(void)from;
	if (!attempt || attempt->state != ATTEMPT_INTENT)
		fatal("breach by auditor: refused what was not asked");
	/* Begun before a power cut: nobody knows how far it came. */
	if (message->body.intent_refused.code == REFUSAL_TAKEN)
		attempt_lose(attempt);
	else
		attempt_refuse(attempt, STAGE_AUDIT, error_of(message->body.intent_refused.code));
}

void
executor_on_fact_recorded(struct executor *executor, struct attempt *from,
    const struct message *message)
{
	(void)from;
	for (unsigned i = 0; i < EXECUTOR_ATTEMPTS; i++) {
		struct attempt *attempt = &executor->attempts[i];

		/* Facts on the way (started, signal) have tokens that end nothing. */
		if (attempt->state == ATTEMPT_RECORDING &&
		    attempt->token == message->body.fact_recorded.token) {
			attempt_tell(attempt);
			return;
		}
	}
}
