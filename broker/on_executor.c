/* What the executor says. */
#include <string.h>
#include <unistd.h>

#include "log.h"

#include "assess.h"
#include "broker.h"
#include "dispatch.h"

void
broker_on_executor_ready(struct broker *broker, const struct message *message)
{
	const struct msg_executor_ready *ready = &message->body.executor_ready;

	if (broker->executor_ready)
		fatal("breach by executor: ready twice");
	broker->executor_ready = true;
	broker->layers = ready->layers;
	broker->landlock_abi = ready->landlock_abi;
	memcpy(broker->filter_sha256, ready->filter_sha256, sizeof(broker->filter_sha256));
	broker_serve_clients(broker);
}

void
broker_on_program_assessed(struct broker *broker, const struct message *message)
{
	assess_answered(broker, &message->body.program_assessed, message->descriptors[0]);
	close(message->descriptors[0]);
}

void
broker_on_run_started(struct broker *broker, const struct message *message)
{
	dispatch_started(broker, &message->body.run_started);
}

/* Nothing of the job ran: an end like any other. */
void
broker_on_run_refused(struct broker *broker, const struct message *message)
{
	const struct msg_run_refused *refused = &message->body.run_refused;
	struct run_end end = { .outcome = OUTCOME_REFUSED, .exit_code = -1, .stage = refused->stage,
	    .error = refused->error };

	dispatch_ended(broker, &refused->run, &end);
	broker_serve_clients(broker);
}

void
broker_on_run_ended(struct broker *broker, const struct message *message)
{
	dispatch_ended(broker, &message->body.run_ended.run, &message->body.run_ended.end);
	broker_serve_clients(broker);
}

void
broker_on_run_lives(struct broker *broker, const struct message *message)
{
	dispatch_lives(broker, &message->body.run_lives.run);
	broker_serve_clients(broker);
}

void
broker_on_run_lost(struct broker *broker, const struct message *message)
{
	dispatch_lost(broker, &message->body.run_lost.run);
	broker_serve_clients(broker);
}
