/* Columns of text. */
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "log.h"
#include "text.h"

#include "escape.h"
#include "table.h"

size_t
table_width(const char *text)
{
	size_t length = strlen(text), width = 0;

	for (size_t at = 0; at < length;) {
		size_t size = text_utf8_length(text + at, length - at);
		int columns = size > 1 ? wcwidth((wchar_t)escape_code(text + at, size)) : 1;

		width += columns < 0 ? 1 : (size_t)columns;
		at += size ? size : 1;
	}
	return width;
}

void
table_open(struct table *table, const char *const *headings, size_t columns)
{
	*table = (struct table){ .columns = columns };
	for (size_t i = 0; i < columns; i++) {
		char *heading = strdup(headings[i]);

		if (!heading)
			fatal("out of memory");
		table_add(table, heading);
	}
}

void
table_close(struct table *table)
{
	for (size_t i = 0; i < table->count; i++)
		free(table->cells[i]);
	free(table->cells);
	*table = (struct table){ 0 };
}

void
table_add(struct table *table, char *text)
{
	size_t column = table->count % table->columns, width = table_width(text);

	if (table->count == table->room) {
		table->room = table->room * 2 + 32;
		table->cells = reallocarray(table->cells, table->room, sizeof(*table->cells));
		if (!table->cells)
			fatal("out of memory");
	}
	table->cells[table->count++] = text;
	if (width > table->width[column])
		table->width[column] = width;
}

/* Bytes one cell may need: its text, or its padding when that is longer. */
static size_t
cell_room(const struct table *table, size_t at)
{
	return strlen(table->cells[at]) + table->width[at % table->columns] + 3;
}

char *
table_text(const struct table *table)
{
	size_t whole = table->count - table->count % table->columns, room = 1;
	char *text, *to;

	for (size_t at = 0; at < whole; at++)
		room += cell_room(table, at);
	to = text = malloc(room);
	if (!text)
		fatal("out of memory");
	for (size_t at = 0; at < whole; at++) {
		size_t column = at % table->columns, length = strlen(table->cells[at]), pad;

		memcpy(to, table->cells[at], length);
		to += length;
		if (column + 1 == table->columns) {
			*to++ = '\n';
			continue;
		}
		pad = table->width[column] - table_width(table->cells[at]) + 2;
		memset(to, ' ', pad);
		to += pad;
	}
	*to = '\0';
	return text;
}
