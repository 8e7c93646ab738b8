/* JSON text on its way out, with the escapes that AL1 allows and no others. */
#include <stdlib.h>
#include <string.h>

#include "json_tree.h"
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

static bool
is_plain(char c)
{
	return (unsigned char)c >= 0x20 && c != 0x7f && c != '"' && c != '\\';
}

static void
write_escaped(struct json_writer *writer, char c)
{
	static const char escaped[] = "\"\\\b\f\n\r\t", names[] = "\"\\bfnrt";
	const char *found = strchr(escaped, c);
	char text[8] = { '\\', found ? names[found - escaped] : '\0' };

	if (!found)
		text_format(text, sizeof(text), "\\u%04x", (unsigned char)c);
	json_write(writer, text, found ? 2 : 6);
}

void
json_write_text(struct json_writer *writer, const char *text)
{
	json_write(writer, "\"", 1);
	while (*text) {
		size_t plain = 0;

		while (is_plain(text[plain]))
			plain++;
		json_write(writer, text, plain);
		text += plain;
		if (*text)
			write_escaped(writer, *text++);
	}
	json_write(writer, "\"", 1);
}

/* --- values --- */

static void
print_scalar(struct json_writer *writer, const struct json *value)
{
	static const char *const words[] = { [JSON_NULL] = "null", [JSON_FALSE] = "false",
		[JSON_TRUE] = "true" };
	char number[24];
	const char *text = number;

	if (value->kind == JSON_TEXT) {
		json_write_text(writer, value->text);
		return;
	}
	if (value->kind == JSON_INTEGER)
		text_format(number, sizeof(number), "%lld", (long long)value->integer);
	else
		text = value->kind == JSON_NUMBER ? value->text : words[value->kind];
	json_write(writer, text, strlen(text));
}

static void
print_value(struct json_writer *writer, const struct json *value)
{
	bool object = value->kind == JSON_OBJECT;

	if (!object && value->kind != JSON_ARRAY) {
		print_scalar(writer, value);
		return;
	}
	json_write(writer, object ? "{" : "[", 1);
	for (const struct json *child = value->first; child; child = child->next) {
		if (object) {
			json_write_text(writer, child->key);
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

	print_value(&writer, value);
	if (length)
		*length = writer.length;
	json_write(&writer, "", 1);
	return writer.bytes;
}
