/* The checkpoint of the newest seal. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base64.h"
#include "digest.h"
#include "scope.h"
#include "text.h"

#include "note.h"
#include "verify.h"

#define ED25519 0x01 /* signature type of C2SP signed-note */

/* The newest seal, and which key has signed it. */
static struct {
	uint64_t size;
	uint8_t prev[32], signer[32], next[32], signature[64];
	char time[RECORD_TIME];
} seal;

static const char *
watch_seal(void *context, const struct chain *chain, const struct record *record)
{
	size_t length = BASE64_SIZE(64) - 1, decoded;

	(void)context;
	if (strcmp(record->type, "log.genesis") == 0 || strcmp(record->type, "log.rekey") == 0)
		memcpy(seal.next, chain->key, 32);
	if (strcmp(record->type, "log.seal") != 0)
		return NULL;
	seal.size = record->seq;
	memcpy(seal.prev, record->prev, 32);
	memcpy(seal.time, record->time, RECORD_TIME);
	memcpy(seal.signer, seal.next, 32);
	memcpy(seal.next, chain->key, 32);
	/* The chain has read it: d ends with the signature, a quote and a brace. */
	base64_decode(record->body + record->body_length - 2 - length, length, seal.signature, 64, &decoded);
	return NULL;
}

void
note_begin(struct verify *verify)
{
	verify_watch(verify, watch_seal, NULL);
}

/* The first four bytes of SHA-256(name || LF || type || key), then the signature. */
static void
compose_signature(const char *name, char text[BASE64_SIZE(68)])
{
	struct digest_state state;
	uint8_t digest[32], bytes[68];

	digest_begin(&state);
	digest_add(&state, name, strlen(name));
	digest_add(&state, (const uint8_t[]){ '\n', ED25519 }, 2);
	digest_add(&state, seal.signer, 32);
	digest_end(&state, digest);
	memcpy(bytes, digest, 4);
	memcpy(bytes + 4, seal.signature, 64);
	base64_encode(text, bytes, sizeof(bytes));
}

void
note_compose(const struct verify *verify, char text[NOTE_TEXT])
{
	const struct chain *chain = &verify->walk.chain;
	char root[BASE64_SIZE(32)], next[BASE64_SIZE(32)], prev[65], name[LIMIT_ORIGIN + 32];
	char signature[BASE64_SIZE(68)];

	base64_encode(root, chain->root, 32);
	base64_encode(next, seal.next, 32);
	text_hex(prev, seal.prev, 32);
	text_format(name, sizeof(name), "%s/fs/%" PRIu64, chain->origin, chain->next_seal - 1);
	compose_signature(name, signature);
	text_format(text, NOTE_TEXT, "%s\n%" PRIu64 "\n%s\nseal %" PRIu64 " %s %s %s\n\n\u2014 %s %s\n", chain->origin,
	    seal.size, root, chain->next_seal - 1, prev, next, seal.time, name, signature);
}

/* --- the file --------------------------------------------------------------------- */

static bool
complain(const char *path)
{
	fprintf(stderr, "agent-safe-audit-verify: %s: %s\n", path, strerror(errno));
	return false;
}

/* The folder knows the new name. */
static bool
sync_folder(const char *path)
{
	char copy[LIMIT_PATH];
	scoped_close int fd = -1;

	if (!text_copy(copy, sizeof(copy), path))
		return false;
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd >= 0 && fsync(fd) == 0;
}

bool
note_remember(const struct verify *verify, const char *path)
{
	char text[NOTE_TEXT], fresh[LIMIT_PATH];
	scoped_close int fd = -1;
	size_t length;

	note_compose(verify, text);
	length = strlen(text);
	errno = ENAMETOOLONG;
	if (!text_format(fresh, sizeof(fresh), "%s.new", path))
		return complain(path);
	fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, text, length) != (ssize_t)length || fsync(fd) < 0 || rename(fresh, path) < 0 ||
	    !sync_folder(path))
		return complain(path);
	return true;
}
