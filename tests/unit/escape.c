/* What a person may be shown: broker/cli/escape.c.
 * links: broker/cli/escape.c shared/text.c shared/log.c */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"

#define shows(bytes, mode, expected) do { \
	char *shown = escape_text(bytes, sizeof(bytes) - 1, mode); \
	assert_string_equal(shown, expected); \
	free(shown); \
} while (0)

static void
text_with_ink_stays(void **state)
{
	(void)state;
	shows("plain text 123 ~!", 0, "plain text 123 ~!");
	shows("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", 0, "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
	shows("", 0, "");
}

static void
terminal_controls_are_written_out(void **state)
{
	(void)state;
	shows("\x1b[2J\x07\x08\x7f", 0, "\\x1b[2J\\x07\\x08\\x7f");
	shows("a\r\nb\tc", 0, "a\\r\\nb\\tc");
	shows("\xc2\x9b" "31m", 0, "\\u{9b}31m"); /* C1: CSI in one character */
	shows("a\0b", 0, "a\\x00b");
}

static void
direction_and_ghosts_are_written_out(void **state)
{
	(void)state;
	shows("\xe2\x80\xae" "fdp.exe", 0, "\\u{202e}fdp.exe");  /* right-to-left override */
	shows("\xe2\x81\xa6\xe2\x81\xa9", 0, "\\u{2066}\\u{2069}"); /* isolates */
	shows("a\xe2\x80\x8b" "b\xe2\x80\x8d", 0, "a\\u{200b}b\\u{200d}");
	shows("\xf3\xa0\x81\x81", 0, "\\u{e0041}");              /* TAG letter A */
	shows("\xe2\x80\xa8\xe2\x80\xa9", 0, "\\u{2028}\\u{2029}");
	shows("\xef\xbb\xbf\xc2\xa0\xc2\xad", 0, "\\u{feff}\\u{a0}\\u{ad}");
	shows("\xe3\x85\xa4\xef\xb8\x8f", 0, "\\u{3164}\\u{fe0f}"); /* Hangul filler, variation selector */
}

static void
bytes_that_are_not_utf8_are_written_out(void **state)
{
	(void)state;
	shows("\xe9t\xc3", 0, "\\xe9t\\xc3");
	shows("\xed\xa0\x80", 0, "\\xed\\xa0\\x80"); /* a surrogate */
	shows("\xc0\xaf", 0, "\\xc0\\xaf");          /* overlong */
}

static void
an_escape_cannot_be_forged(void **state)
{
	(void)state;
	shows("\\x1b", 0, "\\\\x1b");
}

static void
lines_stay_lines_for_job_output(void **state)
{
	(void)state;
	shows("a\\b\tc\n\x1b[0m\rz\n", ESCAPE_LINES, "a\\b\tc\n\\x1b[0m\\rz\n");
}

static void
an_ascii_terminal_gets_ascii(void **state)
{
	(void)state;
	shows("caf\xc3\xa9", ESCAPE_ASCII, "caf\\u{e9}");
}

static void
json_stays_json_without_hidden_characters(void **state)
{
	static const char line[] = "{\"a\":\"x\xe2\x80\xaey\xf3\xa0\x81\x81 \xc3\xa9\"}";
	char *shown = escape_json(line, sizeof(line) - 1);

	(void)state;
	assert_string_equal(shown, "{\"a\":\"x\\u202ey\\udb40\\udc41 \xc3\xa9\"}");
	free(shown);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_with_ink_stays),
		cmocka_unit_test(terminal_controls_are_written_out),
		cmocka_unit_test(direction_and_ghosts_are_written_out),
		cmocka_unit_test(bytes_that_are_not_utf8_are_written_out),
		cmocka_unit_test(an_escape_cannot_be_forged),
		cmocka_unit_test(lines_stay_lines_for_job_output),
		cmocka_unit_test(an_ascii_terminal_gets_ascii),
		cmocka_unit_test(json_stays_json_without_hidden_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
