#ifndef JSON_H
#define JSON_H

/*
 * JSON: the only place that includes cJSON.h.  Strict on the way in: one value, valid UTF-8, no
 * NUL (raw or \u0000), no raw control character, no lone surrogate, no duplicate key, RFC 8259
 * numbers with |integer| <= 2^53-1 and at most 60 characters, depth, member and size bounds of
 * limits.h; checked by a scanner of our own (json_scan.h) before cJSON sees a byte (cJSON lets
 * all of these through).
 * On the way out: one line, no whitespace outside strings, keys in the order they were added,
 * only the escapes that AL1 allows (\" \\ \b \f \n \r \t \u00xx in lower case, 0x7f as \u007f).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json; /* a value; belongs to its parent, or to the caller when it has none */

struct json_error {
	size_t line, column; /* from 1; column counts bytes */
	bool repeated_key;   /* it is JSON as far as it was read, but an object has a key twice */
	char text[160];      /* what is wrong; never quotes the input */
};

/* NULL with *error filled.  Free the result with json_free(). */
struct json *json_parse(const char *bytes, size_t length, struct json_error *error);

/* The scanner alone: is this strict JSON as above? */
bool json_check(const char *bytes, size_t length, struct json_error *error);

/* Where `value`, somewhere in the tree `root` that these bytes gave, began: a member at its key. */
void json_locate(const char *bytes, size_t length, const struct json *root, const struct json *value,
    size_t *line, size_t *column);
void json_free(struct json *value);

/* --- reading: all accept NULL and then say no --- */
bool json_is_object(const struct json *value);
bool json_is_array(const struct json *value);
bool json_is_null(const struct json *value);
const struct json *json_get(const struct json *object, const char *key); /* exact case; NULL when absent */
size_t json_count(const struct json *value);                           /* members or elements */
const struct json *json_at(const struct json *value, size_t index);
const char *json_key_at(const struct json *object, size_t index);
const char *json_text(const struct json *value);                       /* NULL unless a string */
bool json_integer(const struct json *value, int64_t *number);          /* false for 1.0, 1e3, true */
bool json_boolean(const struct json *value, bool *truth);

/* The first key of object that is not in the NULL-ended list, or NULL. */
const char *json_unknown_key(const struct json *object, const char *const *known);

/* --- building: out of memory ends the process --- */
struct json *json_object(void);
struct json *json_array(void);
/* These return the added value; `key` is NULL when parent is an array. */
struct json *json_add(struct json *parent, const char *key, struct json *value); /* takes value over */
struct json *json_add_object(struct json *parent, const char *key);
struct json *json_add_array(struct json *parent, const char *key);
void json_add_text(struct json *parent, const char *key, const char *text); /* as json_add_bytes(); NULL adds null */
/* Text, or {"b64":"..."} when it is not UTF-8 or holds a NUL. */
void json_add_bytes(struct json *parent, const char *key, const void *bytes, size_t length);
/* Beyond 2^53-1 as a string of digits: no strict reader would take the number. */
void json_add_integer(struct json *parent, const char *key, int64_t number);
void json_add_seconds(struct json *parent, const char *key, int64_t microseconds); /* as float seconds with 6 digits */
void json_add_boolean(struct json *parent, const char *key, bool truth);
void json_add_null(struct json *parent, const char *key);
void json_remove(struct json *object, const char *key);

/* Deep copy without a parent. */
struct json *json_copy(const struct json *value);

/* One line, allocated; free() it.  length may be NULL. */
char *json_print(const struct json *value, size_t *length);

/* A string, or {"b64":"..."}, as bytes: malloc()ed with a NUL after them; NULL when it is neither. */
char *json_bytes(const struct json *value, size_t *length);

#endif
