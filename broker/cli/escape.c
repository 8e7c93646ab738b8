/* What a person may be shown. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "text.h"

#include "escape.h"

/*
 * Ranges without ink, or that move or reorder what stands around them: controls, blanks other
 * than U+0020, default-ignorable characters (DerivedCoreProperties of Unicode 15), bidi and
 * format characters, separators, TAG and variation characters.
 */
static const struct {
	uint32_t first, last;
} hidden[] = {
	{ 0x0000, 0x001f },
	{ 0x007f, 0x00a0 }, /* DEL, C1, no-break space */
	{ 0x00ad, 0x00ad },
	{ 0x034f, 0x034f },
	{ 0x061c, 0x061c },
	{ 0x115f, 0x1160 },
	{ 0x1680, 0x1680 },
	{ 0x17b4, 0x17b5 },
	{ 0x180b, 0x180f },
	{ 0x2000, 0x200f }, /* blanks, zero-width, direction marks */
	{ 0x2028, 0x202f }, /* line and paragraph separator, embeddings, overrides */
	{ 0x205f, 0x206f }, /* word joiner, isolates, deprecated controls */
	{ 0x2800, 0x2800 },
	{ 0x3000, 0x3000 },
	{ 0x3164, 0x3164 },
	{ 0xd800, 0xf8ff }, /* surrogates, private use */
	{ 0xfe00, 0xfe0f },
	{ 0xfeff, 0xfeff },
	{ 0xffa0, 0xffa0 },
	{ 0xfff0, 0xfffb },
	{ 0xfffe, 0xffff },
	{ 0x1bca0, 0x1bca3 },
	{ 0x1d173, 0x1d17a },
	{ 0xe0000, 0x10ffff }, /* TAG, variation selectors, private use */
};

bool
escape_is_plain(uint32_t code)
{
	for (size_t i = 0; i < sizeof(hidden) / sizeof(*hidden); i++)
		if (code >= hidden[i].first && code <= hidden[i].last)
			return false;
	return code <= 0x10ffff;
}

uint32_t
escape_code(const char *bytes, size_t size)
{
	static const uint8_t lead[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	uint32_t code = (uint8_t)bytes[0] & lead[size];

	for (size_t i = 1; i < size; i++)
		code = code << 6 | ((uint8_t)bytes[i] & 0x3f);
	return code;
}

/* A text that grows; every append leaves room for the longest escape. */
struct growing {
	char *text;
	size_t used, room;
};

static void
grow(struct growing *out)
{
	if (out->room - out->used >= 32)
		return;
	out->room = out->room * 2 + 64;
	out->text = realloc(out->text, out->room);
	if (!out->text)
		fatal("out of memory");
}

static void
append(struct growing *out, const char *bytes, size_t length)
{
	grow(out);
	memcpy(out->text + out->used, bytes, length);
	out->used += length;
}

/* The name of a character that is not shown itself. */
static void
append_name(struct growing *out, uint32_t code)
{
	char name[16];

	if (code == '\n')
		append(out, "\\n", 2);
	else if (code == '\t')
		append(out, "\\t", 2);
	else if (code == '\r')
		append(out, "\\r", 2);
	else if (code == '\\')
		append(out, "\\\\", 2);
	else
		append(out, name, (size_t)snprintf(name, sizeof(name), code < 0x80 ? "\\x%02x" : "\\u{%x}", code));
}

/* Is this character shown as it is? */
static bool
is_shown(uint32_t code, unsigned mode)
{
	if (mode & ESCAPE_LINES && (code == '\n' || code == '\t' || code == '\\'))
		return true;
	if (mode & ESCAPE_ASCII && code > 0x7e)
		return false;
	return code != '\\' && escape_is_plain(code);
}

char *
escape_text(const char *bytes, size_t length, unsigned mode)
{
	struct growing out = { 0 };
	char name[8];

	for (size_t at = 0; at < length;) {
		size_t size = text_utf8_length(bytes + at, length - at);
		uint32_t code = size ? escape_code(bytes + at, size) : 0;

		if (size == 0)
			append(&out, name, (size_t)snprintf(name, sizeof(name), "\\x%02x", (uint8_t)bytes[at]));
		else if (is_shown(code, mode))
			append(&out, bytes + at, size);
		else
			append_name(&out, code);
		at += size ? size : 1;
	}
	append(&out, "", 1);
	return out.text;
}

char *
escape_json(const char *line, size_t length)
{
	struct growing out = { 0 };
	char name[16];

	for (size_t at = 0; at < length;) {
		size_t size = text_utf8_length(line + at, length - at);
		uint32_t code = size > 1 ? escape_code(line + at, size) : ' ';

		if (escape_is_plain(code))
			append(&out, line + at, size ? size : 1);
		else if (code < 0x10000)
			append(&out, name, (size_t)snprintf(name, sizeof(name), "\\u%04x", code));
		else
			append(&out, name, (size_t)snprintf(name, sizeof(name), "\\u%04x\\u%04x",
			    0xd800 + ((code - 0x10000) >> 10), 0xdc00 + ((code - 0x10000) & 0x3ff)));
		at += size ? size : 1;
	}
	append(&out, "", 1);
	return out.text;
}
