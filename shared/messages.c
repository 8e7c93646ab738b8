/* The rules made from messages.def. */
#include "profile.h" /* before payloads.h, which names its enums: its structs are never sent */

#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wpadded"
#include "payloads.h"
#pragma GCC diagnostic pop

#include "messages.h"

#define RULE(NAME, name, sender, receiver, descriptors) \
	[MSG_##NAME] = { #NAME, sender, receiver, sizeof(struct msg_##name), descriptors },

const struct message_rule message_rules[MSG_COUNT] = {
#define TO_BROKER(NAME, name, sender, n) RULE(NAME, name, sender, PROCESS_BROKER, n)
#define TO_EXECUTOR(NAME, name, sender, n) RULE(NAME, name, sender, PROCESS_EXECUTOR, n)
#define TO_AUDITOR(NAME, name, sender, n) RULE(NAME, name, sender, PROCESS_AUDITOR, n)
#define TO_COURIER(NAME, name, sender, n) RULE(NAME, name, sender, PROCESS_COURIER, n)
#define TO_KEEPER(NAME, name, sender, n) RULE(NAME, name, sender, PROCESS_KEEPER, n)
#define TO_INIT(NAME, name, sender, n) RULE(NAME, name, sender, PROCESS_INIT, n)
#include "messages.def"
};

const char *
process_name(enum process process)
{
	static const char *const names[PROCESS_COUNT] = {
		[PROCESS_BROKER] = "broker", [PROCESS_EXECUTOR] = "executor",
		[PROCESS_AUDITOR] = "auditor", [PROCESS_KEEPER] = "keeper", [PROCESS_INIT] = "init",
		[PROCESS_COURIER] = "courier",
	};

	return process > 0 && process < PROCESS_COUNT ? names[process] : "nobody";
}
