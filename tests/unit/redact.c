/* Masking a stream, shared/redact.c.
 * links: shared/redact.c shared/redact_find.c shared/secret_assign.c shared/secret_name.c shared/secret_scan.c shared/secret_visible.c shared/text.c */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "limits.h"
#include "made.h"
#include "secrets.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* What came out of a redactor. */
struct output {
	char bytes[1u << 20];
	size_t length;
	uint64_t count;
};

static void
collect(void *context, const void *bytes, size_t length)
{
	struct output *output = context;

	assert_true(output->length + length < sizeof(output->bytes));
	memcpy(output->bytes + output->length, bytes, length);
	output->length += length;
	output->bytes[output->length] = '\0';
}

/* Feed in pieces of `step` bytes, the first of them `first` long. */
static void
run(struct output *output, const char *bytes, size_t length, size_t first, size_t step)
{
	struct redactor *redactor = redact_open(collect, output);

	assert_non_null(redactor);
	output->length = 0;
	output->bytes[0] = '\0';
	for (size_t at = 0; at < length;) {
		size_t size = at == 0 && first ? first : step;

		size = size < length - at ? size : length - at;
		redact_feed(redactor, bytes + at, size);
		at += size;
	}
	redact_end(redactor);
	output->count = redact_count(redactor);
	redact_close(redactor);
}

static struct output one, other;

static void
output_is_masked_and_the_rest_kept(void **state)
{
	static const struct { const char *in, *out; uint64_t count; } cases[] = {
		{ "a {{GH}} b\n", "a <redacted> b\n", 1 },
		{ "{{GH}} {{AWSID}}\n{{SKANT}}", "<redacted> <redacted>\n<redacted>", 3 },
		{ "https://u:{{PW}}@host.example/r\n", "https://<redacted>@host.example/r\n", 1 },
		{ "DB_PASSWORD=x y\nDB_HOST=h\n", "DB_PASSWORD=<redacted>\nDB_HOST=h\n", 1 },
		{ "Authorization: Basic dXNlOg==\r\n", "Authorization: Basic <redacted>\r\n", 1 },
		{ "\x1b[1;31merror\x1b[0m: caf\xc3\xa9 \xff\x00 100%\r\n", "\x1b[1;31merror\x1b[0m: caf\xc3\xa9 \xff\x00 100%\r\n", 0 },
		{ "x \x1b[31mtoken=\x1b[0mabc9\x1b[0m \x1b[32mok\x1b[0m\n",
		    "x \x1b[31mtoken=\x1b[0m<redacted>\x1b[0m \x1b[32mok\x1b[0m\n", 1 },
		{ "", "", 0 }, { "\n", "\n", 0 }, { "\n\n", "\n\n", 0 }, { "no newline", "no newline", 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char text[1024];
		size_t length = made_fill(text, cases[i].in);

		run(&one, text, length, 0, length + 1);
		if (strcmp(one.bytes, cases[i].out) != 0 || one.count != cases[i].count)
			fail_msg("%s: %s (%u)", cases[i].in, one.bytes, (unsigned)one.count);
	}
}

static void
it_does_not_matter_how_a_stream_is_split(void **state)
{
	char text[2048];
	size_t length = made_fill(text, "a={{GH}}\npassword: \"x y z\"\n{{BEGIN}}{{KEY}}\r\nAAAA\r\n{{END}}{{KEY}}\r\n"
	    "https://u:{{PW}}@h/ Bearer {{OPAQUE40}} \x1b[0m{{JWTHEAD}}.{{JWTHEAD}}.x\nDB_PASSWORD=a b c");

	(void)state;
	run(&one, text, length, 0, length);
	assert_null(strstr(one.bytes, "pass-word"));
	assert_int_equal(one.count, 7);
	for (size_t first = 1; first < length; first++) {
		run(&other, text, length, first, length);
		assert_int_equal(other.length, one.length);
		assert_memory_equal(other.bytes, one.bytes, one.length);
		assert_int_equal(other.count, one.count);
	}
	run(&other, text, length, 0, 1);
	assert_string_equal(other.bytes, one.bytes);
}

static void
a_token_with_something_invisible_inside_is_masked(void **state)
{
	static const struct { const char *bytes; size_t length; } invisible[] = {
		{ "\x1b[0m", 4 }, { "\0", 1 }, { "\b", 1 }, { "\xe2\x80\x8b", 3 }, { "\xc2\xad", 2 }, { "\r", 1 },
		{ "\xc2\x9b" "0m", 4 },
	};
	char token[64], line[128];
	size_t length = made_fill(token, "{{GH}}");

	(void)state;
	for (size_t i = 0; i < COUNT(invisible); i++)
		for (size_t at = 1; at < length; at++) {
			size_t size = 0;

			memcpy(line, token, at);
			size += at;
			memcpy(line + size, invisible[i].bytes, invisible[i].length);
			size += invisible[i].length;
			memcpy(line + size, token + at, length - at);
			size += length - at;
			line[size++] = '\n';
			run(&one, line, size, 0, size);
			if (strcmp(one.bytes, "<redacted>\n") != 0)
				fail_msg("%zu at %zu: %s", i, at, one.bytes);
		}
}

/* Eight lines of filler in a key block; line: how each line looks, with %s for its text. */
static size_t
make_block(char *to, size_t size, const char *front, const char *label, const char *back, bool ended)
{
	char begin[32], end[32], key[32];
	size_t length;

	made_fill(begin, "{{BEGIN}}");
	made_fill(end, "{{END}}");
	made_fill(key, label);
	length = (size_t)snprintf(to, size, "%s%s%s%s\n", front, begin, key, back);
	for (int i = 1; i <= 8; i++)
		length += (size_t)snprintf(to + length, size - length, "%sFAKEfiller0%dAAAABBBBCCCCDDDDEEEE%s\n", front, i, back);
	if (ended)
		length += (size_t)snprintf(to + length, size - length, "%s%s%s%s\nafter\n", front, end, key, back);
	return length;
}

static void
key_blocks_are_masked_over_lines(void **state)
{
	static const struct { const char *front, *back; bool ended; } shapes[] = {
		{ "", "", true }, { "12: ", "", true }, { "", "\r", true }, { "", "", false }, { "\x1b[2m", "\x1b[0m", true },
	};
	char text[4096];

	(void)state;
	for (size_t i = 0; i < COUNT(shapes); i++) {
		size_t length = make_block(text, sizeof(text), shapes[i].front, "{{KEY}}", shapes[i].back, shapes[i].ended);

		run(&one, text, length, 0, length);
		if (strstr(one.bytes, "filler") || !strstr(one.bytes, "BEGIN"))
			fail_msg("shape %zu: %s", i, one.bytes);
		assert_int_equal(strstr(one.bytes, "\nafter\n") != NULL, shapes[i].ended);
	}
	run(&one, text, make_block(text, sizeof(text), "", "PUBLIC KEY-----", "", true), 0, 4096);
	assert_string_equal(one.bytes, text);
	assert_int_equal(one.count, 0);
}

static void
a_block_that_never_ends_is_bounded(void **state)
{
	static char text[600000];
	size_t length = made_fill(text, "{{BEGIN}}{{KEY}}\n");

	(void)state;
	while (length < sizeof(text) - 64)
		length += (size_t)snprintf(text + length, 64, "FAKEfillerAAAABBBBCCCCDDDDEEEE\n");
	run(&one, text, length, 0, 4096);
	assert_true(one.count > 8000 && one.count < 9000);
	assert_non_null(strstr(one.bytes, "FAKEfiller"));
}

/* A long line of dots with the filled pattern at `at`. */
static void
assert_masked_in_long_line(const char *pattern, const char *masked, size_t at, size_t total)
{
	static char text[300000], expected[300000];
	char secret[1024];
	size_t size = made_fill(secret, pattern);

	memset(text, '.', total);
	memcpy(text + at, secret, size);
	memset(expected, '.', at);
	memcpy(expected + at, masked, strlen(masked));
	memset(expected + at + strlen(masked), '.', total - at - size);
	run(&one, text, total, 0, 7777);
	if (one.length != total - size + strlen(masked) || memcmp(one.bytes, expected, one.length) != 0)
		fail_msg("%s at %zu", pattern, at);
}

static void
secrets_at_the_edges_of_the_window_are_masked(void **state)
{
	(void)state;
	for (size_t at = REDACT_WINDOW - 8192 - 90; at < REDACT_WINDOW - 8192 + 10; at += 3) {
		assert_masked_in_long_line("<{{GH}}>", "<<redacted>>", at, 80000);
		assert_masked_in_long_line(" password='a b' ", " password='<redacted>' ", at, 80000);
		assert_masked_in_long_line("<a://u:{{PW}}@h>", "<a://<redacted>@h>", at, 80000);
	}
	for (size_t at = REDACT_WINDOW - 60; at < REDACT_WINDOW + 10; at++)
		assert_masked_in_long_line("<{{GH}}>", "<<redacted>>", at, 80000);
}

static void
a_secret_longer_than_the_window_is_one_mask(void **state)
{
	static char text[300000];
	size_t length;

	(void)state;
	length = made_fill(text, "x {{SK}}");
	memset(text + length, 'k', 200000);
	length += 200000;
	length += (size_t)snprintf(text + length, 64, " y\nz\n");
	run(&one, text, length, 0, 1000);
	assert_string_equal(one.bytes, "x <redacted> y\nz\n");
	assert_int_equal(one.count, 1);
	length = (size_t)snprintf(text, 64, "{\"password\":\"");
	memset(text + length, 'k', 200000);
	length += 200000;
	length += (size_t)snprintf(text + length, 64, "\",\"a\":1}");
	run(&one, text, length, 0, 1000);
	assert_string_equal(one.bytes, "{\"password\":\"<redacted>\",\"a\":1}");
}

static void
a_block_on_one_long_line_is_masked(void **state)
{
	static char text[300000];
	size_t length = made_fill(text, "{\"key\":\"{{BEGIN}}{{KEY}}"), tail;

	(void)state;
	memset(text + length, 'k', 200000);
	length += 200000;
	tail = made_fill(text + length, "{{END}}{{KEY}}\"} rest\n");
	run(&one, text, length + tail, 0, 999);
	assert_null(strstr(one.bytes, "kkk"));
	assert_non_null(strstr(one.bytes, text + length));
}

static void
drop(void *context, const void *bytes, size_t length)
{
	(void)bytes;
	*(size_t *)context += length;
}

static void
a_long_line_takes_linear_time(void **state)
{
	static const char *const units[] = { "password=", "A", "{{BEGIN}}", "key:'\"", "eyJ.", "-eyJaaaaaaaaaaaa",
		"token=/a/", "://a", "x://u:", "bearer ", "{\"a\":\"b\",\"cd\":[1,2,3]},", "sk-", "=\"", "password='a",
		"{{BEGIN}}{{KEY}}", "\x1b[", "\xe2\x80\x8b", "secret = a ", "password=a " };
	static char text[65536];

	(void)state;
	for (size_t i = 0; i < COUNT(units); i++) {
		struct timespec start, end;
		size_t sum = 0, length = 0, unit;
		struct redactor *redactor = redact_open(drop, &sum);
		double seconds;

		for (unit = made_fill(text, units[i]); length + unit < sizeof(text); length += unit)
			made_fill(text + length, units[i]);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
		for (size_t fed = 0; fed < 2u << 20; fed += length)
			redact_feed(redactor, text, length);
		redact_end(redactor);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
		redact_close(redactor);
		seconds = (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9;
		if (getenv("SHOW_TIMES"))
			print_message("%6.3f s  %s\n", seconds, units[i]);
		if (seconds > 4) /* sanitized on a busy machine; without, ten mebibytes take less than one second */
			fail_msg("%s: %f s", units[i], seconds);
	}
}

/* --- word for word --- */

static const char *hidden[LIMIT_SECRETS];
static size_t hidden_count;

static void
run_hiding(struct output *output, const char *bytes, size_t length, size_t step)
{
	struct redactor *redactor = redact_open(collect, output);

	assert_non_null(redactor);
	for (size_t i = 0; i < hidden_count; i++)
		assert_true(redact_hide(redactor, hidden[i], strlen(hidden[i])));
	output->length = 0;
	output->bytes[0] = '\0';
	for (size_t at = 0; at < length; at += step)
		redact_feed(redactor, bytes + at, step < length - at ? step : length - at);
	redact_end(redactor);
	output->count = redact_count_of(redactor, MASKED_EXACT);
	redact_close(redactor);
}

static void
given_words_are_masked_wherever_they_stand(void **state)
{
	static const struct { const char *in, *out; uint64_t count; } cases[] = {
		{ "hunter2\n", "<redacted>\n", 1 }, { "xhunter2x hunter2", "x<redacted>x <redacted>", 2 },
		{ "hunter\n2", "hunter\n2", 0 }, { "hun\x1b[0mter2", "<redacted>", 1 },
		/* A secret by its shape that begins or ends inside one. */
		{ "password=hunter2behind z", "password=<redacted>", 0 },
		{ "https://u:{{PW}}7x@host.example/r", "https://<redacted>.example/r", 0 },
		{ "blue-sky", "<redacted>", 1 }, { "abcdef", "<redacted>", 1 }, { "abcd cdef", "<redacted> <redacted>", 2 },
		{ "abcdefcdef", "<redacted><redacted>", 2 },
	};

	(void)state;
	hidden_count = 5;
	memcpy(hidden, (const char *[]){ "hunter2", "blue-sky", "abcd", "cdef", "7x@host" }, 5 * sizeof(*hidden));
	for (size_t i = 0; i < COUNT(cases); i++) {
		char text[1024];
		size_t length = made_fill(text, cases[i].in);

		run_hiding(&one, text, length, length);
		if (strcmp(one.bytes, cases[i].out) != 0 || one.count != cases[i].count)
			fail_msg("%s: %s (%u)", cases[i].in, one.bytes, (unsigned)one.count);
		run_hiding(&other, text, length, 1);
		assert_string_equal(other.bytes, one.bytes);
	}
}

static void
given_words_at_the_edges_of_the_window_are_masked(void **state)
{
	static char text[3 * REDACT_WINDOW];
	static char word[LIMIT_SECRET_BYTES + 1];

	(void)state;
	memset(word, 'w', LIMIT_SECRET_BYTES);
	word[0] = '<';
	hidden[0] = word;
	hidden_count = 1;
	for (size_t at = REDACT_WINDOW - 10000; at < REDACT_WINDOW + 100; at += 97) {
		memset(text, 'a', sizeof(text));
		memcpy(text + at, word, LIMIT_SECRET_BYTES);
		run_hiding(&one, text, sizeof(text), 4096);
		assert_int_equal(one.count, 1);
		assert_int_equal(one.length, sizeof(text) - LIMIT_SECRET_BYTES + 10);
		assert_memory_equal(one.bytes + at, "<redacted>a", 11);
	}
}

static void
only_short_lines_can_be_given(void **state)
{
	static char large[LIMIT_SECRET_BYTES + 1];
	struct redactor *redactor = redact_open(collect, &one);

	(void)state;
	assert_false(redact_hide(redactor, "", 0));
	assert_false(redact_hide(redactor, "a\nb", 3));
	assert_false(redact_hide(redactor, "\x1b[0m", 4)); /* nothing of it is seen */
	memset(large, 'x', sizeof(large));
	assert_false(redact_hide(redactor, large, sizeof(large)));
	for (unsigned i = 0; i < LIMIT_SECRETS; i++)
		assert_true(redact_hide(redactor, large, LIMIT_SECRET_BYTES));
	assert_false(redact_hide(redactor, "x", 1));
	redact_close(redactor);
}

static void
a_whole_text_is_masked(void **state)
{
	char text[256];
	size_t length = made_fill(text, "by {{GH}}\nok"), masked;
	char *result = redact_text(text, length, &masked);

	(void)state;
	assert_string_equal(result, "by <redacted>\nok");
	assert_int_equal(masked, strlen(result));
	free(result);
	result = redact_text("", 0, &masked);
	assert_true(masked == 0 && result[0] == '\0');
	free(result);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(output_is_masked_and_the_rest_kept),
		cmocka_unit_test(it_does_not_matter_how_a_stream_is_split),
		cmocka_unit_test(a_token_with_something_invisible_inside_is_masked),
		cmocka_unit_test(key_blocks_are_masked_over_lines),
		cmocka_unit_test(a_block_that_never_ends_is_bounded),
		cmocka_unit_test(secrets_at_the_edges_of_the_window_are_masked),
		cmocka_unit_test(a_secret_longer_than_the_window_is_one_mask),
		cmocka_unit_test(a_block_on_one_long_line_is_masked),
		cmocka_unit_test(a_long_line_takes_linear_time),
		cmocka_unit_test(given_words_are_masked_wherever_they_stand),
		cmocka_unit_test(given_words_at_the_edges_of_the_window_are_masked),
		cmocka_unit_test(only_short_lines_can_be_given),
		cmocka_unit_test(a_whole_text_is_masked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
