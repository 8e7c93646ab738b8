/* JSON text on its way out, with the escapes that AL1 allows and no others. */
#include <stdlib.h>
#include <string.h>

#include "json_write.h"
#include "log.h"
#include "text.h"

void
json_write(struct json_writer *writer, const char *bytes, size_t length)
{
	if (writer->capacity - writer->length < length) {
		while (writer->capacity - writer->length < length)
			writer->capacity = writer->capacity ? 2 * writer->capacity : 256;
		writer->bytes = realloc(writer->bytes, writer->capacity);
		if (!writer->bytes)
			fatal("json: out of memory");
	}
	memcpy(writer->bytes + writer->length, bytes, length);
	writer->length += length;
}

static void
print_character(struct json_writer *writer, char c)
{
	static const char escaped[] = "\"\\\b\f\n\r\t", names[] = "\"\\bfnrt";
	const char *found = strchr(escaped, c);
	char text[8] = { '\\', found ? names[found - escaped] : '\0' };

	if (found)
		json_write(writer, text, 2);
	else if ((unsigned char)c < 0x20 || c == 0x7f) {
		text_format(text, sizeof(text), "\\u%04x", (unsigned char)c);
		json_write(writer, text, 6);
	} else
		json_write(writer, &c, 1);
}

void
json_write_text(struct json_writer *writer, const char *text)
{
	json_write(writer, "\"", 1);
	for (; *text; text++)
		print_character(writer, *text);
	json_write(writer, "\"", 1);
}
