#ifndef JSON_TEXT_H
#define JSON_TEXT_H

/* JSON written into bounded memory, without spaces; for one object at a time. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_text {
	char *bytes;
	size_t size, length;
	bool failed; /* it did not fit, or a number was beyond 2^53-1: sticky */
};

void json_text_begin(struct json_text *text, char *bytes, size_t size);

/* Bytes as they are: brackets, commas, `"key":`. */
void json_text_raw(struct json_text *text, const char *bytes);

/* A string, or {"b64":"..."} when the bytes are not UTF-8. */
void json_text_string(struct json_text *text, const void *bytes, size_t length);
void json_text_base64(struct json_text *text, const void *bytes, size_t length);

void json_text_number(struct json_text *text, int64_t number);
void json_text_unsigned(struct json_text *text, uint64_t number);
void json_text_hex(struct json_text *text, const uint8_t digest[32]);

#endif
