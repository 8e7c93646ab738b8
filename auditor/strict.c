/* The strict JSON of AL1: one scanner, recursive to a fixed depth. */
#include <string.h>

#include "text.h"

#include "strict.h"

/* A key takes five bytes at least ("":0 and a comma or brace): this table is never full. */
#define KEY_SLOTS 16384
#define BODY_MAX 65535

struct strict {
	const char *bytes;
	size_t length, at;
	unsigned depth;
	const char *why;
	/* Keys met so far by hash: where the key begins (0: free; no key begins there) and where its object does. */
	size_t slots;
	uint16_t keys[KEY_SLOTS];
	uint16_t owners[KEY_SLOTS];
};

static bool scan_value(struct strict *strict);

static bool
refuse(struct strict *strict, const char *why)
{
	if (!strict->why)
		strict->why = why;
	return false;
}

static int
peek(const struct strict *strict)
{
	return strict->at < strict->length ? (unsigned char)strict->bytes[strict->at] : -1;
}

static bool
take(struct strict *strict, char wanted)
{
	if (peek(strict) != wanted)
		return false;
	strict->at++;
	return true;
}

/* \uxxxx behind the u: lower-case digits, not a surrogate. */
static bool
scan_unicode(struct strict *strict)
{
	struct scan scan = { strict->bytes + strict->at, strict->length - strict->at };
	uint8_t code[2];

	if (!scan_hex(&scan, code, sizeof(code)) || (code[0] >= 0xd8 && code[0] <= 0xdf))
		return refuse(strict, "bad \\u escape");
	strict->at += 4;
	return true;
}

static bool
scan_escape(struct strict *strict)
{
	int c = peek(strict);

	if (c < 0 || c == '\0' || !strchr("\"\\bfnrtu", c))
		return refuse(strict, "bad escape");
	strict->at++;
	return c != 'u' || scan_unicode(strict);
}

/* From the opening quote to the closing one. */
static bool
scan_string(struct strict *strict, bool is_key)
{
	if (!take(strict, '"'))
		return refuse(strict, "string expected");
	for (;;) {
		int c = peek(strict);
		size_t size;

		if (c == '"') {
			strict->at++;
			return true;
		}
		if (c < 0x20 || c == 0x7f)
			return refuse(strict, c < 0 ? "string without end" : "control byte");
		if (c == '\\') {
			strict->at++;
			if (is_key)
				return refuse(strict, "escape in a key");
			if (!scan_escape(strict))
				return false;
			continue;
		}
		size = text_utf8_length(strict->bytes + strict->at, strict->length - strict->at);
		if (size == 0)
			return refuse(strict, "not UTF-8");
		strict->at += size;
	}
}

static bool
scan_integer(struct strict *strict)
{
	bool negative = take(strict, '-');
	struct scan scan = { strict->bytes + strict->at, strict->length - strict->at };
	uint64_t value;

	if (!scan_decimal(&scan, &value) || value > STRICT_INTEGER_MAX || (negative && value == 0))
		return refuse(strict, "not an integer in range");
	strict->at = strict->length - scan.left;
	return true;
}

static bool
scan_word(struct strict *strict, const char *word)
{
	struct scan scan = { strict->bytes + strict->at, strict->length - strict->at };

	if (!scan_literal(&scan, word))
		return refuse(strict, "value expected");
	strict->at = strict->length - scan.left;
	return true;
}

/* Note the key at `from` (behind its quote) of the object at `owner`; false when it is there already. */
static bool
note_key(struct strict *strict, size_t owner, size_t from)
{
	/* Key and closing quote: equal up to there means equal keys, as keys hold no escapes. */
	size_t length = strict->at - from;
	uint32_t hash = 2166136261u ^ (uint32_t)owner;
	size_t slot;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)strict->bytes[from + i]) * 16777619u; /* FNV-1a */
	for (slot = (hash ^ hash >> 16) % strict->slots; strict->keys[slot]; slot = (slot + 1) % strict->slots) {
		size_t other = strict->keys[slot];

		if (strict->owners[slot] == owner && length <= strict->length - other &&
		    memcmp(strict->bytes + other, strict->bytes + from, length) == 0)
			return refuse(strict, "duplicate key");
	}
	strict->keys[slot] = (uint16_t)from;
	strict->owners[slot] = (uint16_t)owner;
	return true;
}

static bool
scan_member(struct strict *strict, size_t owner)
{
	size_t from = strict->at + 1;

	if (!scan_string(strict, true) || !note_key(strict, owner, from))
		return false;
	if (!take(strict, ':'))
		return refuse(strict, "colon expected");
	return scan_value(strict);
}

/* Members or elements from behind the opening to behind the closing bracket. */
static bool
scan_list(struct strict *strict, bool is_object)
{
	size_t owner = strict->at++;
	char closing = is_object ? '}' : ']';

	if (strict->depth == STRICT_DEPTH)
		return refuse(strict, "too deep");
	strict->depth++;
	if (!take(strict, closing)) {
		do {
			if (!(is_object ? scan_member(strict, owner) : scan_value(strict)))
				return false;
		} while (take(strict, ','));
		if (!take(strict, closing))
			return refuse(strict, "comma or closing bracket expected");
	}
	strict->depth--;
	return true;
}

static bool
scan_value(struct strict *strict)
{
	switch (peek(strict)) {
	case '{':
		return scan_list(strict, true);
	case '[':
		return scan_list(strict, false);
	case '"':
		return scan_string(strict, false);
	case 't':
		return scan_word(strict, "true");
	case 'f':
		return scan_word(strict, "false");
	case 'n':
		return scan_word(strict, "null");
	default:
		return scan_integer(strict);
	}
}

bool
strict_object(const char *bytes, size_t length, const char **why)
{
	struct strict strict;

	*why = "object expected";
	if (length == 0 || length > BODY_MAX || bytes[0] != '{')
		return false;
	strict.bytes = bytes;
	strict.length = length;
	strict.at = 0;
	strict.depth = 0;
	strict.why = NULL;
	/* At least twice as many slots as keys can be, and no more to clear than needed. */
	for (strict.slots = 64; strict.slots < KEY_SLOTS && strict.slots < length / 2; strict.slots *= 2)
		;
	memset(strict.keys, 0, strict.slots * sizeof(strict.keys[0]));
	if (scan_list(&strict, true) && strict.at < length)
		refuse(&strict, "bytes behind the object");
	*why = strict.why;
	return !strict.why;
}

/* The end of the value that begins at `at`; the object is known to be strict. */
static size_t
skip_value(const char *bytes, size_t at)
{
	unsigned depth = 0;
	bool quoted = false;

	for (;; at++) {
		char c = bytes[at];

		if (quoted) {
			if (c == '\\')
				at++;
			else if (c == '"')
				quoted = false;
			continue;
		}
		if (depth == 0 && (c == ',' || c == '}' || c == ']'))
			return at;
		if (c == '"')
			quoted = true;
		else if (c == '{' || c == '[')
			depth++;
		else if (c == '}' || c == ']')
			depth--;
	}
}

bool
strict_member(const char *object, size_t length, const char *key, struct scan *value)
{
	size_t at = 1, wanted = strlen(key);

	while (at < length && object[at] == '"') {
		const char *name = object + at + 1;
		const char *quote = memchr(name, '"', length - at - 1);
		size_t from = (size_t)(quote - object) + 2, to = skip_value(object, from);

		if ((size_t)(quote - name) == wanted && memcmp(name, key, wanted) == 0) {
			*value = (struct scan){ object + from, to - from };
			return true;
		}
		at = to + 1;
	}
	return false;
}

bool
strict_text(const char *object, size_t length, const char *key, struct scan *text)
{
	if (!strict_member(object, length, key, text) || text->at[0] != '"' ||
	    memchr(text->at, '\\', text->left))
		return false;
	text->at++;
	text->left -= 2;
	return true;
}

bool
strict_number(const char *object, size_t length, const char *key, uint64_t *number)
{
	struct scan value;

	return strict_member(object, length, key, &value) && scan_decimal(&value, number) && value.left == 0;
}
