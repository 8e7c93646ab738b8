/* Columns of text: broker/cli/table.c.
 * links: broker/cli/table.c broker/cli/escape.c shared/text.c shared/log.c */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

static const char *const headings[] = { "ID", "NAME", "REST" };

static void
add_row(struct table *table, const char *a, const char *b, const char *c)
{
	table_add(table, strdup(a));
	table_add(table, strdup(b));
	table_add(table, strdup(c));
}

static void
columns_are_as_wide_as_their_widest_cell(void **state)
{
	struct table table;
	char *text;

	(void)state;
	table_open(&table, headings, 3);
	add_row(&table, "1", "long name", "x");
	add_row(&table, "1000", "", "a longer rest that is not padded");
	text = table_text(&table);
	assert_string_equal(text, "ID    NAME       REST\n"
	                          "1     long name  x\n"
	                          "1000             a longer rest that is not padded\n");
	free(text);
	table_close(&table);
}

static void
width_counts_display_columns_not_bytes(void **state)
{
	struct table table;
	char *text;

	(void)state;
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		skip();
	assert_int_equal(table_width("caf\xc3\xa9"), 4);
	assert_int_equal(table_width("\xe6\x97\xa5\xe6\x9c\xac"), 4); /* two wide characters */
	assert_int_equal(table_width("e\xcc\x81"), 1);                /* a combining accent */
	table_open(&table, headings, 3);
	add_row(&table, "\xe6\x97\xa5", "b", "c");
	text = table_text(&table);
	assert_string_equal(text, "ID  NAME  REST\n\xe6\x97\xa5  b     c\n");
	free(text);
	table_close(&table);
}

static void
many_rows_are_kept(void **state)
{
	struct table table;
	char *text;
	size_t lines = 0;

	(void)state;
	table_open(&table, headings, 3);
	for (int i = 0; i < 1000; i++)
		add_row(&table, "a", "b", "c");
	text = table_text(&table);
	for (const char *at = text; *at; at++)
		lines += *at == '\n';
	assert_int_equal(lines, 1001);
	free(text);
	table_close(&table);
}

static void
an_unfinished_row_is_left_out(void **state)
{
	struct table table;
	char *text;

	(void)state;
	table_open(&table, headings, 3);
	table_add(&table, strdup("alone"));
	text = table_text(&table);
	assert_string_equal(text, "ID     NAME  REST\n");
	free(text);
	table_close(&table);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_are_as_wide_as_their_widest_cell),
		cmocka_unit_test(width_counts_display_columns_not_bytes),
		cmocka_unit_test(many_rows_are_kept),
		cmocka_unit_test(an_unfinished_row_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
