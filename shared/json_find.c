/* Positions in JSON text that the scanner has accepted, so nothing is checked again. */
#include <string.h>

#include "json_find.h"

/* The cursor stands on an opening quote: the offset behind the closing one. */
static size_t
skip_string(const char *bytes, size_t at)
{
	for (at++; bytes[at] != '"'; at++)
		if (bytes[at] == '\\')
			at++;
	return at + 1;
}

/* Punctuation and white space stand between values. */
static bool
is_between(char c)
{
	return c != '\0' && strchr(" \t\n\r,:]}", c);
}

static size_t
skip_between(const char *bytes, size_t length, size_t at)
{
	while (at < length && is_between(bytes[at]))
		at++;
	return at;
}

/* Behind the scalar, or behind the opening bracket. */
static size_t
skip_token(const char *bytes, size_t length, size_t at)
{
	if (bytes[at] == '"')
		return skip_string(bytes, at);
	if (bytes[at] == '{' || bytes[at] == '[')
		return at + 1;
	while (at < length && !is_between(bytes[at]))
		at++;
	return at;
}

/* Is the string that ends before `at` a key? */
static bool
is_key(const char *bytes, size_t length, size_t at)
{
	while (at < length && strchr(" \t\n\r", bytes[at]))
		at++;
	return at < length && bytes[at] == ':';
}

size_t
json_find_value(const char *bytes, size_t length, size_t index)
{
	size_t at = skip_between(bytes, length, 0);

	while (at < length) {
		size_t start = at;

		at = skip_token(bytes, length, at);
		if (bytes[start] == '"' && is_key(bytes, length, at))
			at = skip_token(bytes, length, skip_between(bytes, length, at));
		if (index-- == 0)
			return start;
		at = skip_between(bytes, length, at);
	}
	return length;
}

bool
json_find_number(const char *bytes, size_t length, size_t *at, size_t *size)
{
	size_t start = skip_between(bytes, length, *at);

	while (start < length) {
		size_t end = skip_token(bytes, length, start);

		if (bytes[start] == '-' || (bytes[start] >= '0' && bytes[start] <= '9')) {
			*at = start;
			*size = end - start;
			return true;
		}
		start = skip_between(bytes, length, end);
	}
	return false;
}

void
json_find_position(const char *bytes, size_t offset, size_t *line, size_t *column)
{
	*line = 1;
	*column = 1;
	for (size_t i = 0; i < offset; i++) {
		if (bytes[i] == '\n') {
			++*line;
			*column = 0;
		}
		++*column;
	}
}
