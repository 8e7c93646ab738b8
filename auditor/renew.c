/* A log whose key is lost. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base64.h"
#include "log.h"
#include "scope.h"

#include "renew.h"

#define OPERATOR "operator"
#define REQUEST "rekey.request"
#define STATEMENT "rekey.statement"

#define REMEDY "; see agent-safe-audit(7), REKEY"

/* The file's text, at most size - 1 bytes and a NUL; its length, or -1 with errno. */
static ssize_t
read_text(int folder_fd, const char *name, char *text, size_t size)
{
	scoped_close int fd = openat(folder_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ssize_t length = fd < 0 ? -1 : read(fd, text, size - 1);

	if (length >= 0)
		text[length] = '\0';
	return length;
}

/* False: there is none. */
static bool
read_operator(int key_fd, uint8_t key[32])
{
	char text[64];
	ssize_t length = read_text(key_fd, OPERATOR, text, sizeof(text));
	size_t decoded;

	if (length < 0 && errno == ENOENT)
		return false;
	if (length < 0 || !base64_decode(text, strcspn(text, "\n"), key, 32, &decoded) || decoded != 32)
		fatal("the operator's key beside key.state is not one" REMEDY);
	return true;
}

/* A torn one is written again by the next start. */
static void
write_request(const struct chain *chain, int key_fd, const struct rekey *wanted)
{
	char text[REKEY_TEXT];
	size_t length = rekey_request(wanted, chain->origin, text);
	scoped_close int fd = openat(key_fd, REQUEST, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);

	if (fd < 0 || write(fd, text, length) != (ssize_t)length || fsync(fd) < 0 || fsync(key_fd) < 0)
		fatal(REQUEST " cannot be written: %s", strerror(errno));
}

/* NULL, or why there is no statement about exactly this end of this log and this new key. */
static const char *
read_statement(const struct chain *chain, int key_fd, const uint8_t operator_key[32], const struct rekey *wanted,
    struct rekey *rekey)
{
	char text[REKEY_TEXT];
	ssize_t length = read_text(key_fd, STATEMENT, text, sizeof(text));

	if (length < 0)
		return "only the operator can continue it: " REQUEST " beside key.state waits for a signature";
	if (!rekey_read_statement(text, (size_t)length, chain->origin, rekey))
		return STATEMENT " is not a statement about this log";
	if (rekey->size != wanted->size || memcmp(rekey->head, wanted->head, 32) != 0)
		return STATEMENT " is about another end of this log";
	if (memcmp(rekey->key, wanted->key, 32) != 0)
		return STATEMENT " is about another key than the one that waits here";
	if (!chain_is_signed(rekey, chain->origin, operator_key))
		return STATEMENT " is not signed with the operator's key";
	return NULL;
}

/* The key that waits for the operator, and what it is to be told. */
static void
prepare(struct pen *pen, const struct chain *chain, int key_fd, struct rekey *wanted)
{
	if (sign_open_new(&pen->sign, key_fd, chain->next_seal) < 0)
		fatal("a new key cannot be made: %s", strerror(errno));
	if (!sign_peek(&pen->sign, chain->next_seal, wanted->key))
		fatal("key.new is not for this end of the log: remove it" REMEDY);
	write_request(chain, key_fd, wanted);
}

bool
renew(struct pen *pen, const struct chain *chain, int key_fd, struct rekey *rekey)
{
	struct rekey wanted = { .size = chain->next_seq };
	bool lost = pen->sign.fd < 0;
	uint8_t operator_key[32];
	const char *why;

	if (!read_operator(key_fd, operator_key))
		return false;
	memcpy(wanted.head, chain->head, sizeof(wanted.head));
	if (lost)
		prepare(pen, chain, key_fd, &wanted);
	/* A key.state that is not this log's may be a new one that was accepted before a crash, no other. */
	else if (!sign_peek(&pen->sign, chain->next_seal, wanted.key))
		return false;
	why = read_statement(chain, key_fd, operator_key, &wanted, rekey);
	if (why && lost)
		fatal("the log has lost its key: %s" REMEDY, why);
	if (why)
		return false;
	if (lost && sign_accept_new(key_fd) < 0)
		fatal("the new key cannot be put in place: %s", strerror(errno));
	why = sign_resume(&pen->sign, chain->next_seal, rekey->key);
	if (why)
		fatal("the new key: %s", why);
	return true;
}
