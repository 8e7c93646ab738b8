#ifndef LOGKEY_H
#define LOGKEY_H

/*
 * The static key of the log, for witnesses that know a log by one key (agent-safe-audit(7)): the file log.key
 * beside key.state, "AL1LOGK1" || Ed25519 seed.  It is not forward-secure and need not be: a
 * witness itself keeps to what it has cosigned.
 */
#include "vkey.h"

struct logkey {
	struct vkey vkey;
	uint8_t secret[64];
};

/* Made when there is none, durable before this returns.  NULL, or what is wrong. */
const char *logkey_open(struct logkey *logkey, int folder_fd, const char *origin);

void logkey_sign(const struct logkey *logkey, const char *text, size_t length, uint8_t signature[64]);

void logkey_close(struct logkey *logkey);

#endif
