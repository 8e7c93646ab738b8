/* Bytes that are perhaps not UTF-8: a JSON string, or {"b64":"..."}. */
#include <stdlib.h>
#include <string.h>

#include "base64.h"
#include "json.h"

/* The bytes of {"b64":"..."}, or NULL. */
static char *
decode_wrapped(const struct json *value, size_t *length)
{
	const char *text = json_count(value) == 1 ? json_text(json_get(value, "b64")) : NULL;
	size_t size = text ? strlen(text) : 0;
	char *bytes = text ? malloc(size + 1) : NULL;

	if (!bytes)
		return NULL;
	if (!base64_decode(text, size, bytes, size, length)) {
		free(bytes);
		return NULL;
	}
	bytes[*length] = '\0';
	return bytes;
}

char *
json_bytes(const struct json *value, size_t *length)
{
	const char *text = json_text(value);

	if (!text)
		return decode_wrapped(value, length);
	*length = strlen(text);
	return strdup(text);
}
