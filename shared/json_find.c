/* What a JSON value holds, and where in its text it began. */
#include <string.h>

#include "json_find.h"
#include "json_tree.h"

/* --- reading --- */

bool
json_is_object(const struct json *value)
{
	return value && value->kind == JSON_OBJECT;
}

bool
json_is_array(const struct json *value)
{
	return value && value->kind == JSON_ARRAY;
}

bool
json_is_null(const struct json *value)
{
	return value && value->kind == JSON_NULL;
}

const struct json *
json_get(const struct json *object, const char *key)
{
	const struct json *member = json_is_object(object) ? object->first : NULL;

	while (member && strcmp(member->key, key) != 0)
		member = member->next;
	return member;
}

size_t
json_count(const struct json *value)
{
	return value ? value->count : 0;
}

const struct json *
json_at(const struct json *value, size_t index)
{
	const struct json *child = value ? value->first : NULL;

	while (child && index-- > 0)
		child = child->next;
	return child;
}

const char *
json_key_at(const struct json *object, size_t index)
{
	const struct json *member = json_is_object(object) ? json_at(object, index) : NULL;

	return member ? member->key : NULL;
}

const char *
json_text(const struct json *value)
{
	return value && value->kind == JSON_TEXT ? value->text : NULL;
}

bool
json_integer(const struct json *value, int64_t *number)
{
	if (!value || value->kind != JSON_INTEGER)
		return false;
	*number = value->integer;
	return true;
}

bool
json_boolean(const struct json *value, bool *truth)
{
	if (!value || (value->kind != JSON_TRUE && value->kind != JSON_FALSE))
		return false;
	*truth = value->kind == JSON_TRUE;
	return true;
}

const char *
json_unknown_key(const struct json *object, const char *const *known)
{
	const struct json *member = json_is_object(object) ? object->first : NULL;

	for (; member; member = member->next) {
		size_t i = 0;

		while (known[i] && strcmp(known[i], member->key) != 0)
			i++;
		if (!known[i])
			return member->key;
	}
	return NULL;
}

/* --- positions, in text that the scanner has accepted: nothing is checked again --- */

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

/* How many values begin before `wanted` in document order; *found when it was met. */
static size_t
count_before(const struct json *value, const struct json *wanted, bool *found)
{
	size_t count = 1;

	if (value == wanted) {
		*found = true;
		return 0;
	}
	for (const struct json *child = value->first; child && !*found; child = child->next)
		count += count_before(child, wanted, found);
	return count;
}

void
json_locate(const char *bytes, size_t length, const struct json *root, const struct json *value,
    size_t *line, size_t *column)
{
	bool found = false;
	size_t index = count_before(root, value, &found);

	json_find_position(bytes, found ? json_find_value(bytes, length, index) : 0, line, column);
}
