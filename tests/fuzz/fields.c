/* Any bytes as fields: what is complete must come out of the writer byte for byte.
 * links: shared/fields.c */
#include <stdlib.h>
#include <string.h>

#include "fields.h"
#include "fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct fields_writer writer;
	struct fields_reader reader;
	struct field field;
	char text[64];
	uint64_t number;

	if (!fields_open(&reader, "TESTTEST", bytes, length))
		return 0;
	fields_begin(&writer, "TESTTEST");
	while (fields_next(&reader, &field)) {
		if (field_u64(&field, &number) && field.length == 8)
			fields_put_u64(&writer, field.tag, number);
		else if (field_text(&field, text, sizeof(text)))
			fields_put_text(&writer, field.tag, text);
		else
			fields_put(&writer, field.tag, field.bytes, field.length);
	}
	if (fields_complete(&reader) &&
	    (writer.failed || writer.length != length || memcmp(writer.bytes, bytes, length) != 0))
		abort();
	fields_free(&writer);
	return 0;
}
