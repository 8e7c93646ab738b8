/* SHA-256 and random bytes, from libsodium. */
#include <sodium.h>

#include "digest.h"
#include "log.h"

_Static_assert(sizeof(crypto_hash_sha256_state) <= sizeof(struct digest_state), "room for the state");

void
digest_open(void)
{
	if (sodium_init() < 0)
		fatal("libsodium does not start");
}

void
digest_take(uint8_t digest[DIGEST_BYTES], const void *bytes, size_t length)
{
	crypto_hash_sha256(digest, bytes, length);
}

void
digest_begin(struct digest_state *state)
{
	crypto_hash_sha256_init((crypto_hash_sha256_state *)(void *)state->space);
}

void
digest_add(struct digest_state *state, const void *bytes, size_t length)
{
	crypto_hash_sha256_update((crypto_hash_sha256_state *)(void *)state->space, bytes, length);
}

void
digest_end(struct digest_state *state, uint8_t digest[DIGEST_BYTES])
{
	crypto_hash_sha256_final((crypto_hash_sha256_state *)(void *)state->space, digest);
}

void
digest_hmac(uint8_t mac[DIGEST_BYTES], const uint8_t key[DIGEST_BYTES], const void *bytes, size_t length)
{
	crypto_auth_hmacsha256(mac, bytes, length, key);
}

void
random_bytes(void *bytes, size_t length)
{
	randombytes_buf(bytes, length);
}
