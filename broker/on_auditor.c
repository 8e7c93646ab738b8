/* What the auditor says. */
#include <string.h>

#include "broker.h"
#include "rules.h"
#include "sealed.h"
#include "witnesses.h"

void
broker_on_broker_welcome(struct broker *broker, const struct message *message)
{
	const struct msg_broker_welcome *welcome = &message->body.broker_welcome;

	memcpy(broker->genesis_key, welcome->genesis_key, sizeof(broker->genesis_key));
	memcpy(broker->log_key, welcome->log_key, sizeof(broker->log_key));
	outbox_welcome(&broker->outbox, welcome);
	rules_record(broker, NULL);
	broker_serve_clients(broker);
}

/* What waits for this record goes on after outbox_settle(). */
void
broker_on_record_synced(struct broker *broker, const struct message *message)
{
	outbox_synced(&broker->outbox, &message->body.record_synced);
}

void
broker_on_record_refused(struct broker *broker, const struct message *message)
{
	outbox_refused(&broker->outbox, &message->body.record_refused);
	broker_serve_clients(broker);
}

void
broker_on_log_sealed(struct broker *broker, const struct message *message)
{
	sealed_take(broker, &message->body.log_sealed);
}

void
broker_on_log_pruned(struct broker *broker, const struct message *message)
{
	sealed_take_pruned(broker, &message->body.log_pruned);
}

void
broker_on_log_segment(struct broker *broker, const struct message *message)
{
	sealed_take_segment(broker, &message->body.log_segment, message->descriptors[0]);
}

void
broker_on_witness_reported(struct broker *broker, const struct message *message)
{
	witnesses_take(broker, &message->body.witness_reported);
}
