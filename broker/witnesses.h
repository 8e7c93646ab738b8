#ifndef WITNESSES_H
#define WITNESSES_H

/* What the auditor has told of the commands that get the log's checkpoints. */
#include "json.h"
#include "messages.h"

struct broker;

void witnesses_take(struct broker *broker, const struct msg_witness_reported *report);

/* "export" and "witnesses" of server.status. */
void witnesses_add(const struct broker *broker, struct json *answer);

/* Who is behind, one text each. */
void witnesses_warn(const struct broker *broker, struct json *warnings);

#endif
