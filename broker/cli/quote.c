/* A command as a person reads it and a shell reads it back. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "text.h"

#include "escape.h"
#include "quote.h"

/* Bytes that no shell gives a meaning, wherever they stand ("=" and "~" do in front). */
static bool
is_bare(const char *bytes, size_t length)
{
	static const char bare[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";

	if (length == 0 || bytes[0] == '=')
		return false;
	for (size_t i = 0; i < length; i++)
		if (bytes[i] == '\0' || !strchr(bare, bytes[i]))
			return false;
	return true;
}

/* Size of the character at bytes that may be written as it is, 0: it may not. */
static size_t
plain_size(const char *bytes, size_t length, bool ascii)
{
	size_t size = text_utf8_length(bytes, length);

	if (size == 0 || (ascii && size > 1) || !escape_is_plain(escape_code(bytes, size)))
		return 0;
	return size;
}

static bool
is_plain(const char *bytes, size_t length, bool ascii)
{
	for (size_t at = 0; at < length;) {
		size_t size = plain_size(bytes + at, length - at, ascii);

		if (size == 0)
			return false;
		at += size;
	}
	return true;
}

/* '...' with each ' as '\'' . */
static char *
in_single(const char *bytes, size_t length, char *to)
{
	*to++ = '\'';
	for (size_t i = 0; i < length; i++) {
		if (bytes[i] == '\'') {
			memcpy(to, "'\\''", 4);
			to += 4;
		} else {
			*to++ = bytes[i];
		}
	}
	*to++ = '\'';
	return to;
}

/* $'...'; ! too is written in octal: an interactive bash looks for it before it looks at quotes. */
static char *
in_dollar(const char *bytes, size_t length, bool ascii, char *to)
{
	memcpy(to, "$'", 2);
	to += 2;
	for (size_t at = 0; at < length;) {
		size_t size = strchr("'\\!", bytes[at]) ? 0 : plain_size(bytes + at, length - at, ascii);

		if (size > 0) {
			memcpy(to, bytes + at, size);
			to += size;
		} else if (bytes[at] == '\n' || bytes[at] == '\t') {
			*to++ = '\\';
			*to++ = bytes[at] == '\n' ? 'n' : 't';
		} else {
			to += snprintf(to, 5, "\\%03o", (uint8_t)bytes[at]);
		}
		at += size ? size : 1;
	}
	*to++ = '\'';
	return to;
}

char *
quote_word(const char *bytes, size_t length, bool ascii)
{
	char *text = malloc(4 * length + 8), *end; /* four bytes for one at most, and the quotes */

	if (!text)
		fatal("out of memory");
	if (is_bare(bytes, length))
		end = (char *)memcpy(text, bytes, length) + length;
	else if (is_plain(bytes, length, ascii))
		end = in_single(bytes, length, text);
	else
		end = in_dollar(bytes, length, ascii, text);
	*end = '\0';
	return text;
}
