/* The operator's key. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "base64.h"
#include "scope.h"

#include "operator.h"
#include "options.h"
#include "rekey.h"
#include "verify.h"

static bool
complain(const char *path, const char *what)
{
	fprintf(stderr, "agent-safe-audit-verify: %s: %s\n", path, what);
	return false;
}

static void
print_key(const uint8_t key[32])
{
	char text[BASE64_SIZE(32)];

	base64_encode(text, key, 32);
	puts(text);
}

bool
operator_make(const char *path)
{
	scoped_close int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	uint8_t seed[32], public_key[32], secret_key[64];
	char text[BASE64_SIZE(32) + 1];
	size_t length;
	bool written;

	if (fd < 0)
		return complain(path, strerror(errno));
	randombytes_buf(seed, sizeof(seed));
	crypto_sign_seed_keypair(public_key, secret_key, seed);
	base64_encode(text, seed, sizeof(seed));
	length = strlen(text);
	text[length++] = '\n';
	written = write(fd, text, length) == (ssize_t)length && fsync(fd) == 0;
	sodium_memzero(seed, sizeof(seed));
	sodium_memzero(secret_key, sizeof(secret_key));
	sodium_memzero(text, sizeof(text));
	if (!written)
		return complain(path, strerror(errno));
	print_key(public_key);
	return true;
}

static bool
read_secret(const char *path, uint8_t public_key[32], uint8_t secret_key[64])
{
	char text[BASE64_SIZE(32) + 2];
	uint8_t seed[32];
	size_t length;
	bool read = options_read_file(path, text, sizeof(text)) >= 0 &&
	    base64_decode(text, strcspn(text, "\n"), seed, 32, &length) && length == 32;

	if (read)
		crypto_sign_seed_keypair(public_key, secret_key, seed);
	sodium_memzero(seed, sizeof(seed));
	sodium_memzero(text, sizeof(text));
	return read || complain(path, "not the secret key of an operator");
}

bool
operator_public(const char *path, uint8_t key[32])
{
	uint8_t secret_key[64];
	bool read = read_secret(path, key, secret_key);

	sodium_memzero(secret_key, sizeof(secret_key));
	return read;
}

/* What is asked for must be about exactly the log that was verified. */
static bool
read_request(const struct chain *chain, const char *path, struct rekey *rekey)
{
	char text[REKEY_TEXT];
	long length = options_read_file(path, text, sizeof(text));

	if (length < 0)
		return complain(path, strerror(errno));
	if (!rekey_read_request(text, (size_t)length, chain->origin, rekey))
		return complain(path, "not a request about this log");
	if (rekey->size != chain->next_seq || memcmp(rekey->head, chain->head, 32) != 0)
		return complain(path, "about another end than this log has");
	return true;
}

bool
operator_sign(const struct verify *verify, const char *request, const char *secret, const char *reason)
{
	const struct chain *chain = &verify->walk.chain;
	uint8_t public_key[32], secret_key[64];
	char text[REKEY_TEXT];
	struct rekey rekey;

	if (!read_request(chain, request, &rekey) || !read_secret(secret, public_key, secret_key))
		return false;
	memcpy(rekey.reason, reason, strlen(reason) + 1);
	crypto_sign_detached(rekey.signature, NULL, (const uint8_t *)text, rekey_text(&rekey, chain->origin, text),
	    secret_key);
	sodium_memzero(secret_key, sizeof(secret_key));
	fwrite(text, 1, rekey_statement(&rekey, chain->origin, text), stdout);
	return true;
}
