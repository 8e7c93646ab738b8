/* JSON written into bounded memory. */
#include <inttypes.h>
#include <string.h>

#include "base64.h"
#include "text.h"

#include "json_text.h"

#define LARGEST ((UINT64_C(1) << 53) - 1)

void
json_text_begin(struct json_text *text, char *bytes, size_t size)
{
	*text = (struct json_text){ .bytes = bytes, .size = size };
}

static void
add(struct json_text *text, const char *bytes, size_t length)
{
	if (text->failed || length > text->size - text->length) {
		text->failed = true;
		return;
	}
	memcpy(text->bytes + text->length, bytes, length);
	text->length += length;
}

void
json_text_raw(struct json_text *text, const char *bytes)
{
	add(text, bytes, strlen(bytes));
}

/* One byte as it may stand inside a string. */
static void
add_byte(struct json_text *text, char c)
{
	char escaped[8];

	if (c == '"' || c == '\\') {
		escaped[0] = '\\';
		escaped[1] = c;
		add(text, escaped, 2);
	} else if ((unsigned char)c < 0x20 || c == 0x7f) {
		text_format(escaped, sizeof(escaped), "\\u%04x", (unsigned)c);
		add(text, escaped, 6);
	} else
		add(text, &c, 1);
}

void
json_text_string(struct json_text *text, const void *bytes, size_t length)
{
	if (!text_is_utf8(bytes, length)) {
		json_text_base64(text, bytes, length);
		return;
	}
	add(text, "\"", 1);
	for (size_t i = 0; i < length && !text->failed; i++)
		add_byte(text, ((const char *)bytes)[i]);
	add(text, "\"", 1);
}

void
json_text_base64(struct json_text *text, const void *bytes, size_t length)
{
	json_text_raw(text, "{\"b64\":\"");
	/* In place, with room for the NUL that is overwritten next. */
	if (text->failed || BASE64_SIZE(length) > text->size - text->length) {
		text->failed = true;
		return;
	}
	base64_encode(text->bytes + text->length, bytes, length);
	text->length += BASE64_SIZE(length) - 1;
	json_text_raw(text, "\"}");
}

void
json_text_number(struct json_text *text, int64_t number)
{
	char digits[24];

	if (number > (int64_t)LARGEST || number < -(int64_t)LARGEST)
		text->failed = true;
	text_format(digits, sizeof(digits), "%" PRId64, number);
	json_text_raw(text, digits);
}

void
json_text_unsigned(struct json_text *text, uint64_t number)
{
	json_text_number(text, number > LARGEST ? INT64_MAX : (int64_t)number);
}

void
json_text_hex(struct json_text *text, const uint8_t digest[32])
{
	char hex[67] = "\"";

	text_hex(hex + 1, digest, 32);
	memcpy(hex + 65, "\"", 2);
	json_text_raw(text, hex);
}
