#ifndef JSON_WRITE_H
#define JSON_WRITE_H

/* A growing text and the escaper of JSON strings.  Out of memory ends the process. */
#include <stddef.h>

struct json_writer {
	char *bytes; /* the owner frees it */
	size_t length, capacity;
};

void json_write(struct json_writer *writer, const char *bytes, size_t length);

/* In quotes; text is UTF-8. */
void json_write_text(struct json_writer *writer, const char *text);

#endif
