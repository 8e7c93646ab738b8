/* links: auditor/strict.c auditor/scan.c auditor/record.c shared/text.c shared/base64.c */
/* The strict JSON of AL1 and the header around it. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "record.h"
#include "strict.h"

static const char *const good[] = {
	"{}", "{\"a\":1}", "{\"a\":-1,\"b\":0,\"c\":9007199254740991,\"d\":-9007199254740991}",
	"{\"a\":[],\"b\":{},\"c\":[[],{}]}", "{\"a\":true,\"b\":false,\"c\":null}",
	"{\"\":\"\"}", "{\"a\":\"\\\"\\\\\\b\\f\\n\\r\\t\\u0000\\u001f\\u007f\\uffff\"}",
	"{\"a\":{\"a\":{\"a\":1}},\"b\":[{\"a\":1},{\"a\":1}]}", "{\"caf\xc3\xa9\":\"\xf0\x9f\x98\x80\"}",
	"{\"a\":1,\"A\":1,\"aa\":1}", "{\"a\":\" spaces are text \"}",
};

static const char *const bad[] = {
	"", "[]", "1", "null", "{", "}", "{}}", "{} ", " {}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{,}", "{a:1}",
	"{'a':1}", "{\"a\":1 }", "{\"a\": 1}", "{\"a\":1\n}", "{\"a\":01}", "{\"a\":-0}", "{\"a\":-}", "{\"a\":+1}",
	"{\"a\":1.0}", "{\"a\":1e3}", "{\"a\":9007199254740992}", "{\"a\":-9007199254740992}",
	"{\"a\":99999999999999999999}", "{\"a\":1,\"a\":2}", "{\"a\":1,\"b\":2,\"a\":3}", "{\"b\":[{\"a\":1,\"a\":2}]}",
	"{\"\\u0061\":1}", "{\"a\\n\":1}", "{\"a\":\"\\u00E9\"}", "{\"a\":\"\\ud800\"}", "{\"a\":\"\\udfff\"}",
	"{\"a\":\"\\u12\"}", "{\"a\":\"\\x41\"}", "{\"a\":\"\\/\"}", "{\"a\":\"\\", "{\"a\":\"\t\"}", "{\"a\":\"\x7f\"}",
	"{\"a\":\"\xc0\xaf\"}", "{\"a\":\"\xed\xa0\x80\"}", "{\"a\":\"\xff\"}", "{\"a\":\"\xf4\x90\x80\x80\"}", "{\"a\":\"x}",
	"{\"a\":tru}", "{\"a\":True}", "{\"a\":NaN}", "{\"a\":[1,]}", "{\"a\":[1 ,2]}", "{\"a\":[1}", "{\"a\":{]}", "{\"a\":[,]}",
	"{\"a\":1}{}", "{\"a\"::1}", "{\"a\":1:2}", "{\"\xff\":1}",
};

static void
strict_objects_are_accepted(void **state)
{
	const char *why;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (!strict_object(good[i], strlen(good[i]), &why))
			fail_msg("%s: %s", good[i], why);
}

static void
everything_else_is_refused_with_a_reason(void **state)
{
	const char *why;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		why = NULL;
		if (strict_object(bad[i], strlen(bad[i]), &why))
			fail_msg("accepted: %s", bad[i]);
		assert_non_null(why);
	}
	assert_false(strict_object("{\"a\":\"\0\"}", 9, &why));
}

static void
depth_is_at_most_16(void **state)
{
	char text[128];
	const char *why;

	(void)state;
	for (unsigned depth = 1; depth <= 20; depth++) {
		size_t length = 0;

		length += (size_t)snprintf(text, sizeof(text), "{\"a\":");
		for (unsigned i = 1; i < depth; i++)
			text[length++] = '[';
		if (depth == 1)
			text[length++] = '1';
		for (unsigned i = 1; i < depth; i++)
			text[length++] = ']';
		text[length++] = '}';
		assert_int_equal(strict_object(text, length, &why), depth <= STRICT_DEPTH);
	}
}

/* As many keys as a body can hold, all different but for the last. */
static void
a_duplicate_is_found_among_thousands(void **state)
{
	static char text[65536];
	size_t length = 1, count = 0;
	const char *why;

	(void)state;
	text[0] = '{';
	while (length < 65000)
		length += (size_t)snprintf(text + length, sizeof(text) - length, "\"%zx\":0,", count++);
	memcpy(text + length - 1, "}", 2);
	assert_true(count > 6000);
	assert_true(strict_object(text, length, &why));
	length += (size_t)snprintf(text + length - 1, sizeof(text) - length, ",\"%zx\":0}", count / 2) - 1;
	assert_false(strict_object(text, length, &why));
	assert_string_equal(why, "duplicate key");
}

static void
members_are_found_at_the_top_only(void **state)
{
	static const char object[] = "{\"x\":{\"job\":\"no\"},\"y\":[\"job\"],\"job\":\"j1\",\"z\":\"\\\"job\\\":\",\"n\":12}";
	struct scan value;
	uint64_t number;

	(void)state;
	assert_true(strict_text(object, strlen(object), "job", &value));
	assert_int_equal(value.left, 2);
	assert_memory_equal(value.at, "j1", 2);
	assert_true(strict_number(object, strlen(object), "n", &number));
	assert_int_equal(number, 12);
	assert_false(strict_number(object, strlen(object), "job", &number));
	assert_false(strict_text(object, strlen(object), "z", &value)); /* it holds escapes */
	assert_false(strict_member(object, strlen(object), "jo", &value));
	assert_false(strict_member("{}", 2, "a", &value));
}

static struct record
sample(void)
{
	struct record record = { .seq = 7, .sn = 3, .source = RECORD_BROKER, .body = "{\"a\":1}", .body_length = 7,
		.type = "job.queued", .time = "2026-09-21T14:13:20.000000Z" };

	return record;
}

static void
a_composed_line_is_read_back(void **state)
{
	static char line[LIMIT_RECORD_BYTES];
	struct record record = sample(), again;
	size_t length = record_compose(line, &record);
	const char *why;

	(void)state;
	assert_true(record_parse(line, length, &again, &why));
	assert_int_equal(again.seq, 7);
	assert_int_equal(again.sn, 3);
	assert_int_equal(again.source, RECORD_BROKER);
	assert_string_equal(again.type, "job.queued");
	assert_string_equal(again.time, record.time);
	assert_int_equal(again.body_length, 7);
	assert_memory_equal(again.body, record.body, 7);
}

/* No line but the canonical one is read: any change of the header is refused or means another record. */
static void
a_line_that_is_read_is_composed_again_to_the_same_bytes(void **state)
{
	static char line[LIMIT_RECORD_BYTES], again[LIMIT_RECORD_BYTES];
	struct record record = sample(), read;
	size_t length = record_compose(line, &record), accepted = 0;
	const char *why;

	(void)state;
	for (size_t i = 0; i < length; i++)
		for (unsigned value = 0; value < 256; value++) {
			char right = line[i];

			line[i] = (char)value;
			if (record_parse(line, length, &read, &why)) {
				accepted++;
				assert_int_equal(record_compose(again, &read), length);
				assert_memory_equal(line, again, length);
			}
			line[i] = right;
		}
	assert_true(accepted > length);
}

static void
a_line_longer_than_the_limit_is_not_composed(void **state)
{
	static char line[LIMIT_RECORD_BYTES], body[LIMIT_RECORD_BYTES];
	struct record record = sample();

	(void)state;
	record.body = body;
	memset(body, 'x', sizeof(body));
	memcpy(body, "{\"a\":\"", 6);
	record.body_length = LIMIT_RECORD_BODY;
	memcpy(body + record.body_length - 2, "\"}", 2);
	assert_true(record_compose(line, &record) > 0);
	record.body_length = LIMIT_RECORD_BYTES;
	assert_int_equal(record_compose(line, &record), 0);
}

static void
times_are_written_and_read(void **state)
{
	char text[RECORD_TIME];

	(void)state;
	record_time(text, 1790000000250000);
	assert_string_equal(text, "2026-09-21T14:13:20.250000Z");
	assert_int_equal(record_time_us(text), 1790000000250000);
	record_time(text, 0);
	assert_string_equal(text, "1970-01-01T00:00:00.000000Z");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strict_objects_are_accepted),
		cmocka_unit_test(everything_else_is_refused_with_a_reason),
		cmocka_unit_test(depth_is_at_most_16),
		cmocka_unit_test(a_duplicate_is_found_among_thousands),
		cmocka_unit_test(members_are_found_at_the_top_only),
		cmocka_unit_test(a_composed_line_is_read_back),
		cmocka_unit_test(a_line_that_is_read_is_composed_again_to_the_same_bytes),
		cmocka_unit_test(a_line_longer_than_the_limit_is_not_composed),
		cmocka_unit_test(times_are_written_and_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
