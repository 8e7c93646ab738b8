/* JSON values: parsed and built. */
#include <stdlib.h>
#include <string.h>

#include "base64.h"
#include "json_scan.h"
#include "json_token.h"
#include "json_tree.h"
#include "limits.h"
#include "log.h"
#include "scope.h"
#include "text.h"

#define INTEGER_MOST ((1ll << 53) - 1)

static struct json *
make(enum json_kind kind)
{
	struct json *value = calloc(1, sizeof(*value));

	if (!value)
		fatal("json: out of memory");
	value->kind = kind;
	return value;
}

/* A copy with a NUL behind it. */
static char *
make_text(const char *bytes, size_t length)
{
	char *text = malloc(length + 1);

	if (!text)
		fatal("json: out of memory");
	memcpy(text, bytes, length);
	text[length] = '\0';
	return text;
}

static struct json *
make_with_text(enum json_kind kind, const char *bytes, size_t length)
{
	struct json *value = make(kind);

	value->text = make_text(bytes, length);
	return value;
}

static void
append(struct json *parent, struct json *value)
{
	if (parent->last)
		parent->last->next = value;
	else
		parent->first = value;
	parent->last = value;
	parent->count++;
}

static void
free_one(struct json *value)
{
	free(value->text);
	free(value->key);
	free(value);
}

/* --- parsing: of text that the scanner has accepted, so nothing is checked again --- */

static struct json *build(struct json_token *token);

static char *
build_string(struct json_token *token)
{
	struct json_token ahead = *token;
	size_t length = 0;
	char *text;

	json_token_string(&ahead, NULL, &length);
	text = malloc(length + 1);
	if (!text)
		fatal("json: out of memory");
	json_token_string(token, text, NULL);
	text[length] = '\0';
	return text;
}

static struct json *
build_text(struct json_token *token)
{
	struct json *value = make(JSON_TEXT);

	value->text = build_string(token);
	return value;
}

/* Sixteen digits at most, see json_token_number(). */
static struct json *
build_number(struct json_token *token)
{
	const char *bytes = token->bytes + token->at;
	size_t start = token->at, size;
	struct json *value;

	json_token_number(token);
	size = token->at - start;
	if (memchr(bytes, '.', size) || memchr(bytes, 'e', size) || memchr(bytes, 'E', size) ||
	    (size == 2 && memcmp(bytes, "-0", 2) == 0))
		return make_with_text(JSON_NUMBER, bytes, size);
	value = make(JSON_INTEGER);
	for (size_t i = bytes[0] == '-'; i < size; i++)
		value->integer = value->integer * 10 + (bytes[i] - '0');
	if (bytes[0] == '-')
		value->integer = -value->integer;
	return value;
}

static struct json *
build_word(struct json_token *token, const char *word, enum json_kind kind)
{
	json_token_word(token, word);
	return make(kind);
}

/* The cursor stands on the opening bracket. */
static struct json *
build_all(struct json_token *token, enum json_kind kind)
{
	struct json *parent = make(kind), *child;
	char *key = NULL;

	token->at++;
	json_token_skip_space(token);
	while (json_token_peek(token) != (kind == JSON_OBJECT ? '}' : ']')) {
		if (kind == JSON_OBJECT) {
			key = build_string(token);
			json_token_skip_space(token);
			token->at++; /* the colon */
			json_token_skip_space(token);
		}
		child = build(token);
		child->key = key;
		append(parent, child);
		json_token_skip_space(token);
		token->at += json_token_peek(token) == ',';
		json_token_skip_space(token);
	}
	token->at++;
	return parent;
}

static struct json *
build(struct json_token *token)
{
	switch (json_token_peek(token)) {
	case '{':
		return build_all(token, JSON_OBJECT);
	case '[':
		return build_all(token, JSON_ARRAY);
	case '"':
		return build_text(token);
	case 't':
		return build_word(token, "true", JSON_TRUE);
	case 'f':
		return build_word(token, "false", JSON_FALSE);
	case 'n':
		return build_word(token, "null", JSON_NULL);
	default:
		return build_number(token);
	}
}

bool
json_check(const char *bytes, size_t length, struct json_error *error)
{
	return json_scan(bytes, length, error);
}

struct json *
json_parse(const char *bytes, size_t length, struct json_error *error)
{
	struct json_token token = { .bytes = bytes, .length = length };

	if (!json_scan(bytes, length, error))
		return NULL;
	json_token_skip_space(&token);
	return build(&token);
}

/* As deep as LIMIT_JSON_DEPTH, or as what was built. */
void
json_free(struct json *value)
{
	struct json *next;

	if (!value)
		return;
	for (struct json *child = value->first; child; child = next) {
		next = child->next;
		json_free(child);
	}
	free_one(value);
}

/* --- building --- */

struct json *
json_object(void)
{
	return make(JSON_OBJECT);
}

struct json *
json_array(void)
{
	return make(JSON_ARRAY);
}

struct json *
json_add(struct json *parent, const char *key, struct json *value)
{
	free(value->key);
	value->key = key ? make_text(key, strlen(key)) : NULL;
	if (parent->kind != (key ? JSON_OBJECT : JSON_ARRAY))
		fatal("json: a %s in what cannot hold one", key ? "member" : "element");
	append(parent, value);
	return value;
}

struct json *
json_add_object(struct json *parent, const char *key)
{
	return json_add(parent, key, json_object());
}

struct json *
json_add_array(struct json *parent, const char *key)
{
	return json_add(parent, key, json_array());
}

void
json_add_text(struct json *parent, const char *key, const char *text)
{
	if (!text)
		json_add_null(parent, key);
	else
		json_add_bytes(parent, key, text, strlen(text));
}

void
json_add_bytes(struct json *parent, const char *key, const void *bytes, size_t length)
{
	scoped_free char *text = NULL;

	if (length == 0 || (text_is_utf8(bytes, length) && !memchr(bytes, 0, length))) {
		json_add(parent, key, make_with_text(JSON_TEXT, length ? bytes : "", length));
		return;
	}
	text = malloc(BASE64_SIZE(length));
	if (!text)
		fatal("json: out of memory");
	base64_encode(text, bytes, length);
	json_add(json_add_object(parent, key), "b64", make_with_text(JSON_TEXT, text, strlen(text)));
}

void
json_add_integer(struct json *parent, const char *key, int64_t number)
{
	struct json *value;
	char text[24];

	if (number >= -INTEGER_MOST && number <= INTEGER_MOST) {
		value = make(JSON_INTEGER);
		value->integer = number;
	} else {
		text_format(text, sizeof(text), "%lld", (long long)number);
		value = make_with_text(JSON_TEXT, text, strlen(text));
	}
	json_add(parent, key, value);
}

void
json_add_seconds(struct json *parent, const char *key, int64_t microseconds)
{
	uint64_t size = microseconds < 0 ? 0 - (uint64_t)microseconds : (uint64_t)microseconds;
	char text[32];

	text_format(text, sizeof(text), "%s%llu.%06llu", microseconds < 0 ? "-" : "",
	    (unsigned long long)(size / 1000000), (unsigned long long)(size % 1000000));
	json_add(parent, key, make_with_text(JSON_NUMBER, text, strlen(text)));
}

void
json_add_boolean(struct json *parent, const char *key, bool truth)
{
	json_add(parent, key, make(truth ? JSON_TRUE : JSON_FALSE));
}

void
json_add_null(struct json *parent, const char *key)
{
	json_add(parent, key, make(JSON_NULL));
}

void
json_remove(struct json *object, const char *key)
{
	struct json **at = &object->first, *before = NULL, *member;

	while (*at && strcmp((*at)->key, key) != 0) {
		before = *at;
		at = &before->next;
	}
	member = *at;
	if (!member)
		return;
	*at = member->next;
	if (object->last == member)
		object->last = before;
	object->count--;
	json_free(member);
}

struct json *
json_copy(const struct json *value)
{
	struct json *copy = make(value->kind), *child;

	copy->integer = value->integer;
	copy->text = value->text ? make_text(value->text, strlen(value->text)) : NULL;
	for (const struct json *at = value->first; at; at = at->next) {
		child = json_copy(at);
		child->key = at->key ? make_text(at->key, strlen(at->key)) : NULL;
		append(copy, child);
	}
	return copy;
}
