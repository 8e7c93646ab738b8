/* The strict scanner, the tree and the printer of shared/json.c.
 * links: shared/json.c shared/json_bytes.c shared/json_find.c shared/json_scan.c shared/json_token.c shared/json_write.c shared/base64.c shared/text.c shared/log.c
 * libs: -lcjson */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "json.h"
#include "limits.h"

/* The error's text for an input, or NULL when it is accepted; the position goes to line and column. */
static const char *
refusal(const char *text, size_t length, size_t *line, size_t *column)
{
	static struct json_error error;

	memset(&error, 0, sizeof(error));
	if (json_check(text, length, &error))
		return NULL;
	*line = error.line;
	*column = error.column;
	return error.text;
}

/* Another fault than broken grammar: callers that answer by a protocol tell the two apart. */
static void
a_repeated_key_is_told_from_broken_json(void **state)
{
	struct json_error error = { .repeated_key = true };

	(void)state;
	assert_false(json_check("{\"a\":1", 6, &error));
	assert_false(error.repeated_key);
	assert_false(json_check("{\"a\":1,\"a\":1}", 13, &error));
	assert_true(error.repeated_key);
}

static void
what_cjson_lets_through_is_refused(void **state)
{
	static const struct {
		const char *text;
		size_t line, column;
		const char *why;
	} cases[] = {
		{ "\"a\\u0000b\"", 1, 3, "\\u0000 is not taken" },
		{ "{\"a\":1,\"a\":2}", 1, 8, "a duplicate key" },
		{ "{\"rules\":[],\n \"\\u0072ules\":[]}", 2, 2, "a duplicate key" },
		{ "{\"a\":{\"b\":1,\"c\":{},\"b\":2}}", 1, 20, "a duplicate key" },
		{ "\"\xff\"", 1, 2, "not valid UTF-8" },
		{ "\"\xed\xa0\x80\"", 1, 2, "not valid UTF-8" },
		{ "\"a\nb\"", 1, 3, "a raw control character in a string" },
		{ "01", 1, 1, "a number with a leading zero" },
		{ "-01", 1, 1, "a number with a leading zero" },
		{ "1.", 1, 3, "a number needs a digit here" },
		{ ".5", 1, 1, "not a JSON value" },
		{ "1e", 1, 3, "a number needs a digit here" },
		{ "-", 1, 2, "a number needs a digit here" },
		{ "+1", 1, 1, "not a JSON value" },
		{ "9007199254740992", 1, 1, "an integer beyond 2^53-1" },
		{ "-9007199254740992", 1, 1, "an integer beyond 2^53-1" },
		{ "\xef\xbb\xbf{}", 1, 1, "not a JSON value" },
		{ "{} x", 1, 4, "something follows the value" },
		{ "{}{}", 1, 3, "something follows the value" },
		{ "\"\\ud800\"", 1, 2, "a lone surrogate" },
		{ "\"\\ud800\\u0041\"", 1, 2, "a lone surrogate" },
		{ "\"\\udc00\"", 1, 2, "a lone surrogate" },
		{ "\"\\x41\"", 1, 3, "an unknown escape" },
		{ "\"\\u12g4\"", 1, 6, "a \\u escape needs four hex digits" },
		{ "\"abc", 1, 5, "the string does not end" },
		{ "[1,]", 1, 4, "not a JSON value" },
		{ "[1 2]", 1, 4, "expected a comma or ]" },
		{ "{\"a\":1,}", 1, 8, "expected a key in double quotes" },
		{ "{\"a\" 1}", 1, 6, "expected a colon" },
		{ "{\"a\":1]", 1, 7, "expected a comma or }" },
		{ "{'a':1}", 1, 2, "expected a key in double quotes" },
		{ "{} /* c */", 1, 4, "something follows the value" },
		{ "NaN", 1, 1, "not a JSON value" },
		{ "nul", 1, 1, "not a JSON value" },
		{ "\v1", 1, 1, "not a JSON value" },
		{ "", 1, 1, "a value is missing at the end" },
		{ "  \n", 2, 1, "a value is missing at the end" },
		{ "[", 1, 2, "a value is missing at the end" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t line = 0, column = 0;
		const char *why = refusal(cases[i].text, strlen(cases[i].text), &line, &column);

		if (!why || strcmp(why, cases[i].why) != 0 || line != cases[i].line || column != cases[i].column)
			fail_msg("%s: got %s at %zu:%zu", cases[i].text, why ? why : "accepted", line, column);
	}
}

static void
raw_nul_is_refused(void **state)
{
	size_t line, column;

	(void)state;
	assert_non_null(refusal("{}\0", 3, &line, &column));
	assert_non_null(refusal("\"a\0b\"", 5, &line, &column));
	assert_non_null(refusal("[1,\0]", 5, &line, &column));
}

static void
depth_members_and_size_are_bounded(void **state)
{
	static char text[LIMIT_LINE_BYTES + 2];
	size_t line, column, at = 0;

	(void)state;
	memset(text, '[', LIMIT_JSON_DEPTH + 1);
	memset(text + LIMIT_JSON_DEPTH + 1, ']', LIMIT_JSON_DEPTH + 1);
	assert_string_equal(refusal(text, 2 * (LIMIT_JSON_DEPTH + 1), &line, &column), "nested too deeply");
	assert_int_equal(column, LIMIT_JSON_DEPTH + 1);
	assert_null(refusal(text + 1, 2 * LIMIT_JSON_DEPTH, &line, &column));

	text[at++] = '{';
	for (unsigned i = 0; i < LIMIT_JSON_MEMBERS; i++)
		at += (size_t)snprintf(text + at, 32, "\"%u\":0,", i);
	text[at - 1] = '}';
	assert_null(refusal(text, at, &line, &column));
	at += (size_t)snprintf(text + at - 1, 32, ",\"x\":0}") - 1;
	assert_string_equal(refusal(text, at, &line, &column), "an object with too many members: 4096 is the most");

	memset(text, ' ', sizeof(text));
	text[0] = '1';
	assert_null(refusal(text, LIMIT_LINE_BYTES, &line, &column));
	assert_string_equal(refusal(text, LIMIT_LINE_BYTES + 1, &line, &column), "too large");
}

/* Parse and print again; the caller frees. */
static char *
again(const char *text)
{
	struct json_error error;
	struct json *value = json_parse(text, strlen(text), &error);
	char *printed;

	if (!value)
		fail_msg("%s: %s", text, error.text);
	printed = json_print(value, NULL);
	json_free(value);
	return printed;
}

static void
printing_is_al1_strict(void **state)
{
	static const struct { const char *in, *out; } cases[] = {
		{ " { \"b\" : [ 1 , true , null ] , \"a\" : \"x\" } ", "{\"b\":[1,true,null],\"a\":\"x\"}" },
		{ "\"\\u0001\\u001F\\u007f\\b\\f\\n\\r\\t\\\"\\\\\\/\"", "\"\\u0001\\u001f\\u007f\\b\\f\\n\\r\\t\\\"\\\\/\"" },
		{ "\"\x7f\"", "\"\\u007f\"" },
		{ "\"\\u00e9\\ud83d\\ude00\\u20ac\"", "\"\xc3\xa9\xf0\x9f\x98\x80\xe2\x82\xac\"" },
		{ "[9007199254740991,-9007199254740991,0]", "[9007199254740991,-9007199254740991,0]" },
		{ "[0.30000000000000004,1e400,1.0,-0,-0.0,1E3]", "[0.30000000000000004,1e400,1.0,-0,-0.0,1E3]" },
		{ "{\"a\\\"1\":\"-5\",\"b\":[\"7\",8.5,{\"c\":9}]}", "{\"a\\\"1\":\"-5\",\"b\":[\"7\",8.5,{\"c\":9}]}" },
		{ "{}", "{}" },
		{ "[]", "[]" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *printed = again(cases[i].in);

		assert_string_equal(printed, cases[i].out);
		free(printed);
	}
}

static void
integers_are_told_from_other_numbers(void **state)
{
	struct json_error error;
	struct json *list = json_parse("[5,1.0,1e3,true,\"5\",-0,-7]", 26, &error);
	int64_t number = 0;

	(void)state;
	assert_non_null(list);
	assert_true(json_integer(json_at(list, 0), &number) && number == 5);
	for (size_t i = 1; i <= 5; i++)
		assert_false(json_integer(json_at(list, i), &number));
	assert_true(json_integer(json_at(list, 6), &number) && number == -7);
	assert_null(json_at(list, 7));
	assert_false(json_integer(NULL, &number));
	json_free(list);
}

static void
reading_is_exact_and_accepts_null(void **state)
{
	static const char *const known[] = { "argv", "b", NULL };
	struct json_error error;
	struct json *object = json_parse("{\"argv\":[],\"Argv\":1,\"b\":false}", 30, &error);
	bool truth = true;

	(void)state;
	assert_true(json_is_array(json_get(object, "argv")));
	assert_null(json_get(object, "ARGV"));
	assert_null(json_get(json_get(object, "argv"), "argv"));
	assert_int_equal(json_count(object), 3);
	assert_string_equal(json_key_at(object, 1), "Argv");
	assert_string_equal(json_unknown_key(object, known), "Argv");
	json_remove(object, "Argv");
	assert_null(json_unknown_key(object, known));
	assert_true(json_boolean(json_get(object, "b"), &truth) && !truth);
	assert_null(json_get(NULL, "a"));
	assert_null(json_text(NULL));
	assert_int_equal(json_count(NULL), 0);
	assert_false(json_is_object(NULL));
	assert_false(json_is_null(NULL));
	json_free(object);
}

static void
bytes_survive_the_round(void **state)
{
	static const char *const samples[] = { "plain", "\xe9t\xe9", "", "\xc3\xa9" };
	struct json *list = json_array();
	char *printed, *bytes;
	size_t length;

	(void)state;
	for (size_t i = 0; i < 4; i++)
		json_add_bytes(list, NULL, samples[i], strlen(samples[i]));
	json_add_bytes(list, NULL, "a\0b", 3);
	printed = json_print(list, NULL);
	assert_string_equal(printed, "[\"plain\",{\"b64\":\"6XTp\"},\"\",\"\xc3\xa9\",{\"b64\":\"YQBi\"}]");
	for (size_t i = 0; i < 4; i++) {
		bytes = json_bytes(json_at(list, i), &length);
		assert_int_equal(length, strlen(samples[i]));
		assert_string_equal(bytes, samples[i]);
		free(bytes);
	}
	bytes = json_bytes(json_at(list, 4), &length);
	assert_int_equal(length, 3);
	assert_memory_equal(bytes, "a\0b", 4);
	free(bytes);
	free(printed);
	json_free(list);
}

static void
wrapped_bytes_are_strict(void **state)
{
	static const char *const bad[] = { "{\"b64\":\"6XTp\",\"x\":1}", "{\"b64\":\"6XT\"}", "{\"b64\":5}", "{}", "7", "[]" };
	size_t length;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct json_error error;
		struct json *value = json_parse(bad[i], strlen(bad[i]), &error);

		assert_non_null(value);
		assert_null(json_bytes(value, &length));
		json_free(value);
	}
	assert_null(json_bytes(NULL, &length));
}

static void
built_values_print_and_scan(void **state)
{
	struct json *object = json_object(), *copy;
	struct json_error error;
	char *printed, *copied;
	size_t length;

	(void)state;
	json_add_text(object, "t", NULL);
	json_add_seconds(object, "s", -1500000);
	json_add_seconds(object, "u", 1700000000000001);
	json_add_integer(object, "i", INT64_MIN);
	json_add_integer(object, "j", -3);
	json_add_boolean(json_add_object(object, "o"), "b", true);
	json_add_null(json_add_array(object, "a"), NULL);
	printed = json_print(object, &length);
	assert_string_equal(printed, "{\"t\":null,\"s\":-1.500000,\"u\":1700000000.000001,"
	    "\"i\":\"-9223372036854775808\",\"j\":-3,\"o\":{\"b\":true},\"a\":[null]}");
	assert_int_equal(length, strlen(printed));
	assert_true(json_check(printed, length, &error));
	copy = json_copy(object);
	copied = json_print(copy, NULL);
	assert_string_equal(copied, printed);
	json_free(copy);
	json_free(object);
	free(printed);
	free(copied);
}

static void
values_are_located(void **state)
{
	static const char text[] = "{\"a\": [1,\n  {\"b\": \"x:\", \"c\": -2.5}],\n \"d\": {}}";
	struct json_error error;
	struct json *root = json_parse(text, sizeof(text) - 1, &error);
	const struct json *inner = json_at(json_get(root, "a"), 1);
	size_t line, column;

	(void)state;
	json_locate(text, sizeof(text) - 1, root, root, &line, &column);
	assert_true(line == 1 && column == 1);
	json_locate(text, sizeof(text) - 1, root, json_get(root, "a"), &line, &column);
	assert_true(line == 1 && column == 2);
	json_locate(text, sizeof(text) - 1, root, json_at(json_get(root, "a"), 0), &line, &column);
	assert_true(line == 1 && column == 8);
	json_locate(text, sizeof(text) - 1, root, inner, &line, &column);
	assert_true(line == 2 && column == 3);
	json_locate(text, sizeof(text) - 1, root, json_get(inner, "c"), &line, &column);
	assert_true(line == 2 && column == 15);
	json_locate(text, sizeof(text) - 1, root, json_get(root, "d"), &line, &column);
	assert_true(line == 3 && column == 2);
	json_free(root);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_repeated_key_is_told_from_broken_json),
		cmocka_unit_test(what_cjson_lets_through_is_refused),
		cmocka_unit_test(raw_nul_is_refused),
		cmocka_unit_test(depth_members_and_size_are_bounded),
		cmocka_unit_test(printing_is_al1_strict),
		cmocka_unit_test(integers_are_told_from_other_numbers),
		cmocka_unit_test(reading_is_exact_and_accepts_null),
		cmocka_unit_test(bytes_survive_the_round),
		cmocka_unit_test(wrapped_bytes_are_strict),
		cmocka_unit_test(built_values_print_and_scan),
		cmocka_unit_test(values_are_located),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
