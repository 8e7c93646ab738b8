#ifndef VKEY_H
#define VKEY_H

/*
 * Names and keys of signed notes (C2SP signed-note, tlog-cosignature): the text
 * "<name>+<key id: 8 hex digits>+<base64 of type || Ed25519 key>" of a public key, and the key id,
 * the first four bytes of SHA-256(name || LF || type || key).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "limits.h"

#define VKEY_TEXT (LIMIT_ORIGIN + 64) /* with its NUL */

enum vkey_type {
	VKEY_LOG = 0x01,     /* signs notes */
	VKEY_WITNESS = 0x04, /* cosigns checkpoints: cosignature/v1 */
};

struct vkey {
	char name[LIMIT_ORIGIN];
	uint8_t type;
	uint8_t id[4];
	uint8_t key[32];
};

/*
 * UTF-8 of one byte at least, without blanks, control characters and "+", as signed-note wants it;
 * and without quotes and backslashes, so that it is its own JSON.
 */
bool vkey_is_name(const char *name);

void vkey_make(struct vkey *vkey, const char *name, enum vkey_type type, const uint8_t key[32]);

/* Exactly the text above, of that type, and the id must be the key's own: NULL, or what is wrong. */
const char *vkey_read(struct vkey *vkey, const char *text, enum vkey_type type);

void vkey_write(const struct vkey *vkey, char text[VKEY_TEXT]);

#endif
