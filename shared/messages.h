#ifndef MESSAGES_H
#define MESSAGES_H

/* What the preprocessor makes of the rows of messages.def.  Payloads: payloads.h. */
#include <stddef.h>
#include <stdint.h>

#include "payloads.h"

/* From 1: a zeroed rule must not read as "broker to broker". */
enum process {
	PROCESS_BROKER = 1,
	PROCESS_EXECUTOR,
	PROCESS_AUDITOR,
	PROCESS_KEEPER, /* one per job */
	PROCESS_INIT,   /* pid 1 of a job */
	PROCESS_COURIER, /* only where the policy has checkpoints leave the host */
	PROCESS_COUNT
};

/* --- made from the rows ------------------------------------------------------ */

#define MESSAGE_DESCRIPTORS 2 /* the most that travel with any message */

enum message_type {
	MSG_NONE,
#define TO_BROKER(NAME, name, sender, descriptors) MSG_##NAME,
#define TO_EXECUTOR TO_BROKER
#define TO_AUDITOR TO_BROKER
#define TO_COURIER TO_BROKER
#define TO_KEEPER TO_BROKER
#define TO_INIT TO_BROKER
#include "messages.def"
	MSG_COUNT
};

struct message {
	enum message_type type;
	int descriptors[MESSAGE_DESCRIPTORS];
	union {
#define TO_BROKER(NAME, name, sender, descriptors) struct msg_##name name;
#define TO_EXECUTOR TO_BROKER
#define TO_AUDITOR TO_BROKER
#define TO_COURIER TO_BROKER
#define TO_KEEPER TO_BROKER
#define TO_INIT TO_BROKER
#include "messages.def"
	} body;
};

struct message_rule {
	const char *name;
	enum process sender, receiver;
	size_t size;
	int descriptors;
};

extern const struct message_rule message_rules[MSG_COUNT];

/* "broker", "executor", ...; never NULL. */
const char *process_name(enum process process);

#endif
