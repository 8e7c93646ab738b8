/* Leaves invisible characters out and remembers where the others were. */
#include <stdbool.h>

#include "secret_visible.h"
#include "text.h"

/* Parameters and the final byte of a control sequence, from behind its introducer. */
static size_t
sequence_size(const char *bytes, size_t length)
{
	size_t size = 0;

	while (size < length && bytes[size] >= 0x20 && bytes[size] <= 0x3f)
		size++;
	return size < length && bytes[size] >= 0x40 && bytes[size] <= 0x7e ? size + 1 : size;
}

static uint32_t
decode(const char *bytes, size_t size)
{
	uint32_t code = (unsigned char)bytes[0] & (0x7fu >> size);

	for (size_t i = 1; i < size; i++)
		code = code << 6 | ((unsigned char)bytes[i] & 0x3f);
	return code;
}

static bool
is_invisible(uint32_t code)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{ 0x80, 0x9f },
		{ 0xad, 0xad },
		{ 0x34f, 0x34f },
		{ 0x61c, 0x61c },
		{ 0x180b, 0x180e },
		{ 0x200b, 0x200f },
		{ 0x2028, 0x202e },
		{ 0x2060, 0x206f },
		{ 0xfe00, 0xfe0f },
		{ 0xfeff, 0xfeff },
		{ 0xfff9, 0xfffb },
		{ 0xe0000, 0xe0fff },
	};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (code >= ranges[i].first && code <= ranges[i].last)
			return true;
	return false;
}

/* Bytes of the invisible thing that begins here, 0 when a visible one does. */
static size_t
invisible_size(const char *bytes, size_t length)
{
	unsigned char c = (unsigned char)bytes[0];
	size_t size;
	uint32_t code;

	if (c == '\x1b')
		return length > 1 && bytes[1] == '[' ? 2 + sequence_size(bytes + 2, length - 2) : 1;
	if (c < 0x20 || c == 0x7f)
		return c != '\t' && c != '\n';
	if (c < 0x80)
		return 0;
	size = text_utf8_length(bytes, length);
	if (size < 2)
		return 0;
	code = decode(bytes, size);
	if (code == 0x9b)
		return size + sequence_size(bytes + size, length - size);
	return is_invisible(code) ? size : 0;
}

size_t
secret_visible(const char *bytes, size_t length, char *visible, uint32_t *position)
{
	size_t count = 0;

	for (size_t at = 0; at < length;) {
		size_t skip = (unsigned char)bytes[at] >= 0x20 && (unsigned char)bytes[at] < 0x7f
		    ? 0 : invisible_size(bytes + at, length - at);

		if (skip > 0) {
			at += skip;
			continue;
		}
		visible[count] = bytes[at];
		position[count++] = (uint32_t)at++;
	}
	return count;
}
