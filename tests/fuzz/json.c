/* What the scanner accepts cJSON parses, and it prints to something that is accepted and prints the same.
 * links: shared/json.c shared/json_bytes.c shared/json_find.c shared/json_scan.c shared/json_token.c shared/json_write.c shared/base64.c shared/text.c shared/log.c
 * libs: -lcjson */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const char *text = (const char *)bytes;
	struct json_error error;
	struct json *value, *again;
	size_t length, length_again;
	char *printed, *printed_again;

	if (size > 65536 || !json_check(text, size, &error))
		return 0;
	value = json_parse(text, size, &error);
	if (!value)
		abort();
	printed = json_print(value, &length);
	again = json_parse(printed, length, &error);
	if (!again)
		abort();
	printed_again = json_print(again, &length_again);
	if (length != length_again || memcmp(printed, printed_again, length) != 0)
		abort();
	for (size_t i = 0; i < json_count(value); i++) {
		size_t line, column;

		json_locate(text, size, value, json_at(value, i), &line, &column);
	}
	json_free(value);
	json_free(again);
	free(printed);
	free(printed_again);
	return 0;
}
