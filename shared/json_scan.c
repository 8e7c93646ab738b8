/* The strict scanner: what tokens may follow each other, and bounds on everything. */
#include <stdlib.h>
#include <string.h>

#include "json_find.h"
#include "json_scan.h"
#include "json_token.h"
#include "limits.h"
#include "text.h"

/* One decoded key of an object that is still open. */
struct key {
	const char *bytes; /* in the arena */
	size_t length;
	size_t at; /* offset in the input, for the error */
};

struct scan {
	struct json_token token;
	unsigned depth;
	struct key *keys; /* a stack: those of the innermost object lie on top */
	size_t key_count, key_capacity;
	char *arena; /* decoded keys of open objects; as large as the input, so it never grows */
	size_t arena_used;
	bool repeated_key;
};

static bool scan_value(struct scan *scan);

static int
peek(const struct scan *scan)
{
	return json_token_peek(&scan->token);
}

static bool
fail(struct scan *scan, const char *error)
{
	return json_token_fail(&scan->token, error);
}

/* Between two members or elements: 1 at a comma, 0 at the closing character, -1 on an error. */
static int
scan_separator(struct scan *scan, char closing)
{
	json_token_skip_space(&scan->token);
	if (peek(scan) == closing) {
		scan->token.at++;
		return 0;
	}
	if (peek(scan) != ',') {
		fail(scan, closing == '}' ? "expected a comma or }" : "expected a comma or ]");
		return -1;
	}
	scan->token.at++;
	json_token_skip_space(&scan->token);
	return 1;
}

_Static_assert(LIMIT_JSON_MEMBERS == 4096, "the texts below say so");

static bool
scan_array(struct scan *scan)
{
	size_t count = 0;
	int more = 1;

	scan->token.at++;
	json_token_skip_space(&scan->token);
	if (peek(scan) == ']') {
		scan->token.at++;
		return true;
	}
	while (more == 1) {
		if (++count > LIMIT_JSON_MEMBERS)
			return fail(scan, "an array with too many elements: 4096 is the most");
		if (!scan_value(scan))
			return false;
		more = scan_separator(scan, ']');
	}
	return more == 0;
}

/* A key at the cursor, decoded into the arena and pushed on the stack. */
static bool
scan_key(struct scan *scan)
{
	struct key key = { .bytes = scan->arena + scan->arena_used, .at = scan->token.at };

	if (peek(scan) != '"')
		return fail(scan, "expected a key in double quotes");
	if (!json_token_string(&scan->token, scan->arena + scan->arena_used, &key.length))
		return false;
	scan->arena_used += key.length;
	if (scan->key_count == scan->key_capacity) {
		size_t capacity = scan->key_capacity ? 2 * scan->key_capacity : 64;
		struct key *keys = realloc(scan->keys, capacity * sizeof(*keys));

		if (!keys)
			return fail(scan, "out of memory");
		scan->keys = keys;
		scan->key_capacity = capacity;
	}
	scan->keys[scan->key_count++] = key;
	json_token_skip_space(&scan->token);
	if (peek(scan) != ':')
		return fail(scan, "expected a colon");
	scan->token.at++;
	json_token_skip_space(&scan->token);
	return true;
}

/* Equal keys become neighbours, the later one second. */
static int
compare_keys(const void *a, const void *b)
{
	const struct key *one = a, *two = b;
	int order;

	if (one->length != two->length)
		return one->length < two->length ? -1 : 1;
	order = memcmp(one->bytes, two->bytes, one->length);
	if (order != 0)
		return order;
	return one->at < two->at ? -1 : 1;
}

static bool
repeated_key(struct scan *scan, size_t at)
{
	scan->repeated_key = true;
	return json_token_fail_at(&scan->token, at, "a duplicate key");
}

/* Takes the keys of the object that ends off the stack; sorting keeps hostile key sets cheap. */
static bool
close_object(struct scan *scan, size_t first, size_t arena)
{
	struct key *keys = scan->keys + first;
	size_t count = scan->key_count - first;

	if (count > 1)
		qsort(keys, count, sizeof(*keys), compare_keys);
	for (size_t i = 1; i < count; i++)
		if (keys[i].length == keys[i - 1].length &&
		    memcmp(keys[i].bytes, keys[i - 1].bytes, keys[i].length) == 0)
			return repeated_key(scan, keys[i].at);
	scan->key_count = first;
	scan->arena_used = arena;
	return true;
}

static bool
scan_object(struct scan *scan)
{
	size_t first = scan->key_count, arena = scan->arena_used;
	int more = 1;

	scan->token.at++;
	json_token_skip_space(&scan->token);
	if (peek(scan) == '}') {
		scan->token.at++;
		return true;
	}
	while (more == 1) {
		if (scan->key_count - first == LIMIT_JSON_MEMBERS)
			return fail(scan, "an object with too many members: 4096 is the most");
		if (!scan_key(scan) || !scan_value(scan))
			return false;
		more = scan_separator(scan, '}');
	}
	return more == 0 && close_object(scan, first, arena);
}

/* The cursor stands on the value's first byte. */
static bool
scan_value(struct scan *scan)
{
	bool good;

	switch (peek(scan)) {
	case '{':
	case '[':
		if (scan->depth == LIMIT_JSON_DEPTH)
			return fail(scan, "nested too deeply");
		scan->depth++;
		good = peek(scan) == '{' ? scan_object(scan) : scan_array(scan);
		scan->depth--;
		return good;
	case '"':
		return json_token_string(&scan->token, NULL, NULL);
	case 't':
		return json_token_word(&scan->token, "true");
	case 'f':
		return json_token_word(&scan->token, "false");
	case 'n':
		return json_token_word(&scan->token, "null");
	case -1:
		return fail(scan, "a value is missing at the end");
	default:
		if (peek(scan) == '-' || (peek(scan) >= '0' && peek(scan) <= '9'))
			return json_token_number(&scan->token);
		return fail(scan, "not a JSON value");
	}
}

static bool
scan_document(struct scan *scan)
{
	if (scan->token.length > LIMIT_LINE_BYTES)
		return fail(scan, "too large");
	scan->arena = malloc(scan->token.length + 1);
	if (!scan->arena)
		return fail(scan, "out of memory");
	json_token_skip_space(&scan->token);
	if (!scan_value(scan))
		return false;
	json_token_skip_space(&scan->token);
	return scan->token.at == scan->token.length || fail(scan, "something follows the value");
}

bool
json_scan(const char *bytes, size_t length, struct json_error *error)
{
	struct scan scan = { .token = { .bytes = bytes, .length = length } };
	bool good = scan_document(&scan);

	free(scan.keys);
	free(scan.arena);
	if (good)
		return true;
	json_find_position(bytes, scan.token.error_at, &error->line, &error->column);
	error->repeated_key = scan.repeated_key;
	text_copy(error->text, sizeof(error->text), scan.token.error);
	return false;
}
