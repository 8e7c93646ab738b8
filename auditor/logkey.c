/* The static key of the log. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "scope.h"

#include "journal.h"
#include "logkey.h"
#include "sign.h"

#define FILE_NAME "log.key"
#define MAGIC "AL1LOGK1"
#define FILE_BYTES (8 + crypto_sign_SEEDBYTES)

static const char *
make(int folder_fd)
{
	uint8_t bytes[FILE_BYTES];
	int result;

	memcpy(bytes, MAGIC, 8);
	randombytes_buf(bytes + 8, sizeof(bytes) - 8);
	result = journal_publish(folder_fd, FILE_NAME, (const char *)bytes, sizeof(bytes));
	sodium_memzero(bytes, sizeof(bytes));
	return result < 0 ? strerror(errno) : NULL;
}

const char *
logkey_open(struct logkey *logkey, int folder_fd, const char *origin)
{
	scoped_close int fd = openat(folder_fd, FILE_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	uint8_t bytes[FILE_BYTES + 1], public_key[32];
	const char *why = fd < 0 && errno == ENOENT ? make(folder_fd) : NULL;
	ssize_t length;

	if (why)
		return why;
	if (fd < 0)
		fd = openat(folder_fd, FILE_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return strerror(errno);
	why = sign_judge_file(fd);
	if (why)
		return why;
	length = read(fd, bytes, sizeof(bytes));
	if (length < 0)
		return strerror(errno);
	if (length != FILE_BYTES || memcmp(bytes, MAGIC, 8) != 0)
		return "it is damaged";
	crypto_sign_seed_keypair(public_key, logkey->secret, bytes + 8);
	sodium_memzero(bytes, sizeof(bytes));
	vkey_make(&logkey->vkey, origin, VKEY_LOG, public_key);
	return NULL;
}

void
logkey_sign(const struct logkey *logkey, const char *text, size_t length, uint8_t signature[64])
{
	crypto_sign_detached(signature, NULL, (const uint8_t *)text, length, logkey->secret);
}

void
logkey_close(struct logkey *logkey)
{
	sodium_memzero(logkey->secret, sizeof(logkey->secret));
}
