#ifndef COSIGN_H
#define COSIGN_H

/* d of log.cosign: {"witness":"<name>","size":N,"cosignature":"<base64 of 76 bytes>"}.  Pure. */
#include "checkpoint.h"

#define COSIGN_BODY (LIMIT_ORIGIN + 256)

struct cosign {
	char witness[LIMIT_ORIGIN];
	uint64_t size; /* of the seal: lines that it covers */
	uint8_t bytes[CHECKPOINT_COSIGNATURE];
};

size_t cosign_body(char body[COSIGN_BODY], const struct cosign *cosign);

/* False unless it is exactly that. */
bool cosign_read(struct cosign *cosign, const char *body, size_t length);

#endif
