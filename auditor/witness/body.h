#ifndef BODY_H
#define BODY_H

/*
 * What asks for a cosignature, the body of add-checkpoint (C2SP tlog-witness):
 *
 *   "old " <size> LF, at most 63 lines of one hash in base64, an empty line, a signed note
 *
 * Pure, fuzzed.
 */
#include "checkpoint.h"
#include "consistency.h"

#define BODY_BYTES (CHECKPOINT_BYTES + 32 + CONSISTENCY_MOST * BASE64_SIZE(32))

struct body {
	uint64_t old;
	uint8_t proof[CONSISTENCY_MOST][32];
	size_t count;
	struct checkpoint checkpoint; /* points into the bytes */
};

/* NULL, or what is wrong. */
const char *body_read(struct body *body, const char *bytes, size_t length);

#endif
