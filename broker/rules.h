#ifndef RULES_H
#define RULES_H

/* The policy in force: read at start and by policy.reload, never in between. */
#include <stdbool.h>
#include <stdint.h>

#include "json.h"
#include "record.h"

struct broker;

/* At start, from BROKER_POLICY_FD.  Without a usable policy nothing may run; the rest works. */
void rules_load(struct broker *broker);

/* Once the store is open: a policy other than the last recorded one goes on record. */
void rules_record(struct broker *broker, const struct record_who *who);

enum rules_reload {
	RULES_LOADED,
	RULES_RESTART, /* good, but other roots, slots or floor: a new start takes it */
	RULES_REFUSED, /* *error says why; what was loaded stays in force */
};

/* Take the policy from a descriptor of the operator's.  fd stays the caller's. */
enum rules_reload rules_reload(struct broker *broker, int fd, char error[512],
    struct policy **loaded);

/* Is the file on disk no longer what was loaded?  fd: opened just now by a client, or -1. */
bool rules_changed(struct broker *broker, int fd);

/* Does the policy have a root there which launch left out (root's own, not there, not mountable)? */
bool rules_lost_root(const struct broker *broker, const char *path, uint64_t *flags);

/* Texts for the warnings of an answer. */
void rules_warn(struct broker *broker, struct json *warnings);

/* "sha256:<hex>" into text (at least 72 bytes); false when there is no policy. */
bool rules_digest_text(const struct broker *broker, char text[72]);

#endif
