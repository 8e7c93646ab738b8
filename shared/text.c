/* Bounded text, strict numbers, hex, UTF-8. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "text.h"

bool
text_copy(char *to, size_t size, const char *from)
{
	size_t length = strlen(from);

	if (length >= size) {
		to[0] = '\0';
		return false;
	}
	memcpy(to, from, length + 1);
	return true;
}

bool
text_format(char *to, size_t size, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(to, size, format, arguments);
	va_end(arguments);
	if (length < 0 || (size_t)length >= size) {
		to[0] = '\0';
		return false;
	}
	return true;
}

bool
text_number(const char *text, uint64_t most, uint64_t *value)
{
	uint64_t sum = 0;

	if (*text == '\0' || (text[0] == '0' && text[1] != '\0'))
		return false;
	for (; *text; text++) {
		unsigned digit = (unsigned)(*text - '0');

		if (digit > 9 || digit > most || sum > (most - digit) / 10)
			return false;
		sum = sum * 10 + digit;
	}
	*value = sum;
	return true;
}

void
text_hex(char *text, const uint8_t *bytes, size_t length)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < length; i++) {
		text[2 * i] = digits[bytes[i] >> 4];
		text[2 * i + 1] = digits[bytes[i] & 15];
	}
	text[2 * length] = '\0';
}

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool
text_unhex(const char *text, uint8_t *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		int high = hex_digit(text[2 * i]);
		int low = high < 0 ? -1 : hex_digit(text[2 * i + 1]);

		if (low < 0)
			return false;
		bytes[i] = (uint8_t)(high << 4 | low);
	}
	return text[2 * length] == '\0';
}

/* Where the four dashes stand in a UUID's text. */
static bool
is_dash(size_t at)
{
	return at == 8 || at == 13 || at == 18 || at == 23;
}

void
text_uuid(char text[TEXT_UUID], const uint8_t uuid[16])
{
	char hex[33];
	size_t from = 0;

	text_hex(hex, uuid, 16);
	for (size_t at = 0; at < TEXT_UUID - 1; at++)
		text[at] = is_dash(at) ? '-' : hex[from++];
	text[TEXT_UUID - 1] = '\0';
}

bool
text_read_uuid(const char *text, uint8_t uuid[16])
{
	char hex[33];
	size_t to = 0;

	if (strnlen(text, TEXT_UUID) != TEXT_UUID - 1)
		return false;
	for (size_t at = 0; at < TEXT_UUID - 1; at++) {
		if (is_dash(at) != (text[at] == '-'))
			return false;
		if (!is_dash(at))
			hex[to++] = text[at];
	}
	hex[to] = '\0';
	return text_unhex(hex, uuid, 16);
}

size_t
text_utf8_length(const char *bytes, size_t length)
{
	const unsigned char *at = (const unsigned char *)bytes;
	uint32_t code;
	size_t size;

	if (length == 0)
		return 0;
	if (at[0] < 0x80)
		return 1;
	size = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
	if (at[0] < 0xc2 || at[0] > 0xf4 || length < size)
		return 0;
	code = at[0] & (0x7fu >> size);
	for (size_t i = 1; i < size; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (at[i] & 0x3f);
	}
	if ((size == 3 && (code < 0x800 || (code >= 0xd800 && code <= 0xdfff))) ||
	    (size == 4 && (code < 0x10000 || code > 0x10ffff)))
		return 0;
	return size;
}

bool
text_is_utf8(const char *bytes, size_t length)
{
	while (length > 0) {
		size_t size = text_utf8_length(bytes, length);

		if (size == 0)
			return false;
		bytes += size;
		length -= size;
	}
	return true;
}

bool
text_path_within(const char *path, const char *root)
{
	size_t length = strlen(root);

	if (length == 1)
		return path[0] == '/';
	return strncmp(path, root, length) == 0 && (path[length] == '\0' || path[length] == '/');
}

bool
text_path_is_clean(const char *path)
{
	if (path[0] != '/')
		return false;
	if (path[1] == '\0')
		return true;
	while (*path == '/') {
		size_t length = strcspn(++path, "/");

		if (length == 0 || (length == 1 && path[0] == '.') ||
		    (length == 2 && path[0] == '.' && path[1] == '.'))
			return false;
		path += length;
	}
	return true;
}
