#ifndef DIGEST_H
#define DIGEST_H

/* SHA-256 and random bytes: the only shared file that includes sodium.h. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIGEST_BYTES 32

/* End the process when the library cannot be used.  Call once, before anything else here. */
void digest_open(void);

void digest_take(uint8_t digest[DIGEST_BYTES], const void *bytes, size_t length);

/* A digest in pieces; the state is the caller's, opaque. */
struct digest_state {
	_Alignas(16) uint8_t space[128];
};
void digest_begin(struct digest_state *state);
void digest_add(struct digest_state *state, const void *bytes, size_t length);
void digest_end(struct digest_state *state, uint8_t digest[DIGEST_BYTES]);

/* HMAC-SHA-256. */
void digest_hmac(uint8_t mac[DIGEST_BYTES], const uint8_t key[DIGEST_BYTES], const void *bytes, size_t length);

void random_bytes(void *bytes, size_t length);

#endif
