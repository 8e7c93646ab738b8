/* Names and keys of signed notes. */
#include <string.h>

#include "base64.h"
#include "digest.h"
#include "text.h"
#include "vkey.h"

#define ID_DIGITS 8

/* What is a blank beyond ASCII in UTF-8: U+0085, U+00A0, U+1680, U+2000 to 200A, 2028, 2029, 202F, 205F, U+3000. */
static bool
is_wide_blank(const char *at)
{
	static const char *const blanks[] = { "\xc2\x85", "\u00a0", "\u1680", "\u2028", "\u2029", "\u202f", "\u205f",
		"\u3000" };

	for (size_t i = 0; i < sizeof(blanks) / sizeof(blanks[0]); i++)
		if (strncmp(at, blanks[i], strlen(blanks[i])) == 0)
			return true;
	return strncmp(at, "\u2000", 2) == 0 && (uint8_t)at[2] >= 0x80 && (uint8_t)at[2] <= 0x8a;
}

bool
vkey_is_name(const char *name)
{
	size_t length = strlen(name);

	if (length == 0 || length >= LIMIT_ORIGIN || !text_is_utf8(name, length))
		return false;
	for (const char *at = name; *at; at++)
		if ((uint8_t)*at <= ' ' || *at == 0x7f || strchr("+\"\\", *at) || is_wide_blank(at))
			return false;
	return true;
}

void
vkey_make(struct vkey *vkey, const char *name, enum vkey_type type, const uint8_t key[32])
{
	struct digest_state state;
	uint8_t digest[DIGEST_BYTES];

	*vkey = (struct vkey){ .type = (uint8_t)type };
	text_copy(vkey->name, sizeof(vkey->name), name);
	memcpy(vkey->key, key, 32);
	digest_begin(&state);
	digest_add(&state, name, strlen(name));
	digest_add(&state, (const uint8_t[]){ '\n', vkey->type }, 2);
	digest_add(&state, key, 32);
	digest_end(&state, digest);
	memcpy(vkey->id, digest, sizeof(vkey->id));
}

const char *
vkey_read(struct vkey *vkey, const char *text, enum vkey_type type)
{
	const char *id = strchr(text, '+'), *key = id ? strchr(id + 1, '+') : NULL;
	char name[LIMIT_ORIGIN], digits[ID_DIGITS + 1];
	uint8_t given[4], bytes[33];
	size_t length;

	if (!key || id - text >= LIMIT_ORIGIN || key - id - 1 != ID_DIGITS)
		return "is not <name>+<key id>+<base64>";
	memcpy(name, text, (size_t)(id - text));
	name[id - text] = '\0';
	memcpy(digits, id + 1, ID_DIGITS);
	digits[ID_DIGITS] = '\0';
	if (!vkey_is_name(name))
		return "has a name that is empty, or has blanks or control characters in it";
	if (!text_unhex(digits, given, sizeof(given)))
		return "has a key id that is not eight lower-case hex digits";
	if (!base64_decode(key + 1, strlen(key + 1), bytes, sizeof(bytes), &length) || length != sizeof(bytes))
		return "has no key of 33 bytes in base64";
	if (bytes[0] != type)
		return type == VKEY_LOG ? "is not of type 01, a log's key" :
		    "is not of type 04, a key for cosignature/v1";
	vkey_make(vkey, name, type, bytes + 1);
	return memcmp(given, vkey->id, sizeof(given)) == 0 ? NULL : "has a key id that is not this key's";
}

void
vkey_write(const struct vkey *vkey, char text[VKEY_TEXT])
{
	uint8_t bytes[33] = { vkey->type };
	char id[ID_DIGITS + 1], key[BASE64_SIZE(33)];

	memcpy(bytes + 1, vkey->key, 32);
	base64_encode(key, bytes, sizeof(bytes));
	text_hex(id, vkey->id, sizeof(vkey->id));
	text_format(text, VKEY_TEXT, "%s+%s+%s", vkey->name, id, key);
}
