#ifndef TABLE_H
#define TABLE_H

/* Columns of text, left-aligned, two blanks apart; the last column is never padded or cut. */
#include <stddef.h>

#define TABLE_COLUMNS 12

struct table {
	size_t columns, count, room; /* count and room: cells */
	char **cells;                /* row after row; malloc()ed texts */
	size_t width[TABLE_COLUMNS]; /* display columns */
};

/* headings: `columns` texts. */
void table_open(struct table *table, const char *const *headings, size_t columns);
void table_close(struct table *table);

/* One more cell, row by row; takes text (already escaped, malloc()ed) over. */
void table_add(struct table *table, char *text);

/* The whole table, malloc()ed; unfinished rows are left out. */
char *table_text(const struct table *table);

/* Display columns of UTF-8 text; a character that the locale does not know counts one. */
size_t table_width(const char *text);

#endif
