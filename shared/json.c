/*
 * The one wrapper around cJSON: values read and built.  A number that is no integer is kept as
 * the text it came in (a cJSON "raw" item), so it is never rounded and json_integer() can tell.
 */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "base64.h"
#include "json.h"
#include "json_find.h"
#include "json_scan.h"
#include "json_write.h"
#include "limits.h"
#include "log.h"
#include "scope.h"
#include "text.h"

#define INTEGER_MOST ((1ll << 53) - 1)

static cJSON *
item_of(const struct json *value)
{
	return (cJSON *)(uintptr_t)value;
}

static struct json *
value_of(cJSON *item)
{
	if (!item)
		fatal("json: out of memory");
	return (struct json *)item;
}

/* --- parsing --- */

/* Make raw items of the numbers that are no integers; *at runs through the text beside the tree. */
static bool
keep_fractions(cJSON *item, const char *bytes, size_t length, size_t *at)
{
	size_t size;

	if (cJSON_IsNumber(item)) {
		if (!json_find_number(bytes, length, at, &size))
			return false;
		if (memchr(bytes + *at, '.', size) || memchr(bytes + *at, 'e', size) ||
		    memchr(bytes + *at, 'E', size) ||
		    (size == 2 && bytes[*at] == '-' && bytes[*at + 1] == '0')) {
			item->valuestring = cJSON_malloc(size + 1);
			if (!item->valuestring)
				return false;
			memcpy(item->valuestring, bytes + *at, size);
			item->valuestring[size] = '\0';
			item->type = cJSON_Raw;
		}
		*at += size;
	}
	for (cJSON *child = item->child; child; child = child->next)
		if (!keep_fractions(child, bytes, length, at))
			return false;
	return true;
}

bool
json_check(const char *bytes, size_t length, struct json_error *error)
{
	return json_scan(bytes, length, error);
}

struct json *
json_parse(const char *bytes, size_t length, struct json_error *error)
{
	scoped_free char *copy = NULL;
	const char *end = NULL;
	size_t at = 0;
	cJSON *item;

	if (!json_scan(bytes, length, error))
		return NULL;
	*error = (struct json_error){ .line = 1, .column = 1 };
	copy = malloc(length + 1);
	if (!copy) {
		text_copy(error->text, sizeof(error->text), "out of memory");
		return NULL;
	}
	memcpy(copy, bytes, length);
	copy[length] = '\0';
	item = cJSON_ParseWithLengthOpts(copy, length + 1, &end, true);
	if (item && keep_fractions(item, copy, length, &at))
		return (struct json *)item;
	cJSON_Delete(item);
	text_copy(error->text, sizeof(error->text), "the JSON library refused it");
	return NULL;
}

void
json_free(struct json *value)
{
	cJSON_Delete(item_of(value));
}

/* How many values begin before `wanted` in document order; *found when it was met. */
static size_t
count_before(const cJSON *item, const cJSON *wanted, bool *found)
{
	size_t count = 1;

	if (item == wanted) {
		*found = true;
		return 0;
	}
	for (const cJSON *child = item->child; child && !*found; child = child->next)
		count += count_before(child, wanted, found);
	return count;
}

void
json_locate(const char *bytes, size_t length, const struct json *root, const struct json *value,
    size_t *line, size_t *column)
{
	bool found = false;
	size_t index = count_before(item_of(root), item_of(value), &found);

	json_find_position(bytes, found ? json_find_value(bytes, length, index) : 0, line, column);
}

/* --- reading --- */

bool
json_is_object(const struct json *value)
{
	return cJSON_IsObject(item_of(value));
}

bool
json_is_array(const struct json *value)
{
	return cJSON_IsArray(item_of(value));
}

bool
json_is_null(const struct json *value)
{
	return cJSON_IsNull(item_of(value));
}

const struct json *
json_get(const struct json *object, const char *key)
{
	if (!json_is_object(object))
		return NULL;
	return (struct json *)cJSON_GetObjectItemCaseSensitive(item_of(object), key);
}

size_t
json_count(const struct json *value)
{
	if (!json_is_object(value) && !json_is_array(value))
		return 0;
	return (size_t)cJSON_GetArraySize(item_of(value));
}

const struct json *
json_at(const struct json *value, size_t index)
{
	if ((!json_is_object(value) && !json_is_array(value)) || index > LIMIT_LINE_BYTES)
		return NULL;
	return (struct json *)cJSON_GetArrayItem(item_of(value), (int)index);
}

const char *
json_key_at(const struct json *object, size_t index)
{
	const struct json *member = json_is_object(object) ? json_at(object, index) : NULL;

	return member ? item_of(member)->string : NULL;
}

const char *
json_text(const struct json *value)
{
	return cJSON_GetStringValue(item_of(value));
}

bool
json_integer(const struct json *value, int64_t *number)
{
	if (!cJSON_IsNumber(item_of(value)))
		return false;
	*number = (int64_t)item_of(value)->valuedouble;
	return true;
}

bool
json_boolean(const struct json *value, bool *truth)
{
	if (!cJSON_IsBool(item_of(value)))
		return false;
	*truth = cJSON_IsTrue(item_of(value));
	return true;
}

const char *
json_unknown_key(const struct json *object, const char *const *known)
{
	const cJSON *member = json_is_object(object) ? item_of(object)->child : NULL;

	for (; member; member = member->next) {
		size_t i = 0;

		while (known[i] && strcmp(known[i], member->string) != 0)
			i++;
		if (!known[i])
			return member->string;
	}
	return NULL;
}

/* --- building --- */

struct json *
json_object(void)
{
	return value_of(cJSON_CreateObject());
}

struct json *
json_array(void)
{
	return value_of(cJSON_CreateArray());
}

struct json *
json_add(struct json *parent, const char *key, struct json *value)
{
	bool added = key ? cJSON_AddItemToObject(item_of(parent), key, item_of(value))
	                 : cJSON_AddItemToArray(item_of(parent), item_of(value));

	if (!added)
		fatal("json: out of memory");
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
	bool plain = length == 0 || (text_is_utf8(bytes, length) && !memchr(bytes, 0, length));
	scoped_free char *text = malloc(plain ? length + 1 : BASE64_SIZE(length));

	if (!text)
		fatal("json: out of memory");
	if (plain) {
		memcpy(text, length ? bytes : "", length);
		text[length] = '\0';
		json_add(parent, key, value_of(cJSON_CreateString(text)));
	} else {
		base64_encode(text, bytes, length);
		json_add(json_add_object(parent, key), "b64", value_of(cJSON_CreateString(text)));
	}
}

void
json_add_integer(struct json *parent, const char *key, int64_t number)
{
	char text[24];

	if (number >= -INTEGER_MOST && number <= INTEGER_MOST) {
		json_add(parent, key, value_of(cJSON_CreateNumber((double)number)));
		return;
	}
	text_format(text, sizeof(text), "%lld", (long long)number);
	json_add(parent, key, value_of(cJSON_CreateString(text)));
}

void
json_add_seconds(struct json *parent, const char *key, int64_t microseconds)
{
	uint64_t size = microseconds < 0 ? 0 - (uint64_t)microseconds : (uint64_t)microseconds;
	char text[32];

	text_format(text, sizeof(text), "%s%llu.%06llu", microseconds < 0 ? "-" : "",
	    (unsigned long long)(size / 1000000), (unsigned long long)(size % 1000000));
	json_add(parent, key, value_of(cJSON_CreateRaw(text)));
}

void
json_add_boolean(struct json *parent, const char *key, bool truth)
{
	json_add(parent, key, value_of(cJSON_CreateBool(truth)));
}

void
json_add_null(struct json *parent, const char *key)
{
	json_add(parent, key, value_of(cJSON_CreateNull()));
}

void
json_remove(struct json *object, const char *key)
{
	cJSON_DeleteItemFromObjectCaseSensitive(item_of(object), key);
}

struct json *
json_copy(const struct json *value)
{
	return value_of(cJSON_Duplicate(item_of(value), true));
}

/* --- printing --- */

static void
print_scalar(struct json_writer *writer, const cJSON *item)
{
	char number[24];
	const char *text = number;

	if (cJSON_IsString(item)) {
		json_write_text(writer, item->valuestring);
		return;
	}
	if (cJSON_IsNumber(item))
		text_format(number, sizeof(number), "%lld", (long long)item->valuedouble);
	else if (cJSON_IsRaw(item))
		text = item->valuestring;
	else
		text = cJSON_IsNull(item) ? "null" : cJSON_IsTrue(item) ? "true" : "false";
	json_write(writer, text, strlen(text));
}

static void
print_value(struct json_writer *writer, const cJSON *item)
{
	bool object = cJSON_IsObject(item);

	if (!object && !cJSON_IsArray(item)) {
		print_scalar(writer, item);
		return;
	}
	json_write(writer, object ? "{" : "[", 1);
	for (const cJSON *child = item->child; child; child = child->next) {
		if (object) {
			json_write_text(writer, child->string);
			json_write(writer, ":", 1);
		}
		print_value(writer, child);
		if (child->next)
			json_write(writer, ",", 1);
	}
	json_write(writer, object ? "}" : "]", 1);
}

char *
json_print(const struct json *value, size_t *length)
{
	struct json_writer writer = { 0 };

	print_value(&writer, item_of(value));
	if (length)
		*length = writer.length;
	json_write(&writer, "", 1);
	return writer.bytes;
}
