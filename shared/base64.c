/* Base64, RFC 4648 section 4. */
#include <stdint.h>
#include <string.h>

#include "base64.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void
base64_encode(char *text, const void *bytes, size_t length)
{
	const unsigned char *at = bytes;

	for (; length > 0; at += 3, length = length > 3 ? length - 3 : 0) {
		uint32_t group = (uint32_t)at[0] << 16;

		if (length > 1)
			group |= (uint32_t)at[1] << 8;
		if (length > 2)
			group |= at[2];
		*text++ = alphabet[group >> 18];
		*text++ = alphabet[group >> 12 & 63];
		*text++ = length > 1 ? alphabet[group >> 6 & 63] : '=';
		*text++ = length > 2 ? alphabet[group & 63] : '=';
	}
	*text = '\0';
}

/* Four characters to at most three bytes; the count, or 0 when they are not base64. */
static size_t
decode_group(const char text[4], unsigned char out[3])
{
	size_t pad = text[3] != '=' ? 0 : text[2] != '=' ? 1 : 2;
	uint32_t group = 0;

	for (size_t i = 0; i < 4 - pad; i++) {
		const char *at = text[i] ? strchr(alphabet, text[i]) : NULL;

		if (!at)
			return 0;
		group |= (uint32_t)(at - alphabet) << (18 - 6 * i);
	}
	if ((pad == 1 && group & 0xff) || (pad == 2 && group & 0xffff))
		return 0;
	out[0] = (unsigned char)(group >> 16);
	out[1] = (unsigned char)(group >> 8);
	out[2] = (unsigned char)group;
	return 3 - pad;
}

bool
base64_decode(const char *text, size_t text_length, void *bytes, size_t size, size_t *length)
{
	unsigned char group[3];

	*length = 0;
	if (text_length % 4 != 0)
		return false;
	for (size_t at = 0; at < text_length; at += 4) {
		size_t count = decode_group(text + at, group);

		if (count == 0 || (count < 3 && at + 4 != text_length) || count > size - *length)
			return false;
		memcpy((unsigned char *)bytes + *length, group, count);
		*length += count;
	}
	return true;
}
