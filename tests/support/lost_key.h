#ifndef LOST_KEY_H
#define LOST_KEY_H

/* What an operator does for a log whose key is lost, for tests: the files beside key.state (auditor/renew.h). */
#include <sodium.h>

#include "auditor_rig.h"
#include "base64.h"

static inline void
lost_put_file(const struct rig *rig, const char *name, const char *text)
{
	int fd = openat(rig->key_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static inline size_t
lost_get_file(const struct rig *rig, const char *name, char *text, size_t size)
{
	int fd = openat(rig->key_fd, name, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? 0 : read(fd, text, size - 1);

	assert_true(length >= 0);
	text[length] = '\0';
	close(fd);
	return (size_t)length;
}

static inline void
lost_put_operator(const struct rig *rig, const uint8_t key[32])
{
	char text[64];

	base64_encode(text, key, 32);
	text[strlen(text) + 1] = '\0';
	text[strlen(text)] = '\n';
	lost_put_file(rig, "operator", text);
}

static inline void
lost_sign(struct rekey *rekey, const char *origin, const uint8_t secret[64])
{
	char text[REKEY_TEXT];

	crypto_sign_detached(rekey->signature, NULL, (const uint8_t *)text, rekey_text(rekey, origin, text), secret);
}

static inline struct rekey
lost_read_request(const struct rig *rig)
{
	char text[REKEY_TEXT];
	size_t length = lost_get_file(rig, "rekey.request", text, sizeof(text));
	struct rekey rekey;

	assert_true(rekey_read_request(text, length, LOG_ORIGIN, &rekey));
	snprintf(rekey.reason, sizeof(rekey.reason), "the disk of the key died");
	return rekey;
}

static inline void
lost_put_statement(const struct rig *rig, const struct rekey *rekey, const char *origin)
{
	char text[REKEY_TEXT];

	rekey_statement(rekey, origin, text);
	lost_put_file(rig, "rekey.statement", text);
}

#endif
