/* Numbers, hex, UUIDs, UTF-8 and paths of shared/text.c.
 * links: shared/text.c */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "text.h"

static void
numbers_are_strict(void **state)
{
	uint64_t value = 7;

	(void)state;
	assert_true(text_number("0", 10, &value) && value == 0);
	assert_true(text_number("18446744073709551615", UINT64_MAX, &value) && value == UINT64_MAX);
	assert_false(text_number("18446744073709551616", UINT64_MAX, &value));
	assert_false(text_number("11", 10, &value));
	assert_false(text_number("9", 5, &value));
	assert_false(text_number("", 10, &value));
	assert_false(text_number("01", 10, &value));
	assert_false(text_number("+1", 10, &value));
	assert_false(text_number(" 1", 10, &value));
	assert_false(text_number("1 ", 10, &value));
}

static void
uuid_survives_the_round(void **state)
{
	uint8_t uuid[16], back[16];
	char text[TEXT_UUID];

	(void)state;
	for (size_t i = 0; i < 16; i++)
		uuid[i] = (uint8_t)(17 * i);
	text_uuid(text, uuid);
	assert_string_equal(text, "00112233-4455-6677-8899-aabbccddeeff");
	assert_true(text_read_uuid(text, back));
	assert_memory_equal(uuid, back, 16);
	assert_false(text_read_uuid("00112233-4455-6677-8899-AABBCCDDEEFF", back));
	assert_false(text_read_uuid("00112233445566778899aabbccddeeff0000", back));
	assert_false(text_read_uuid("", back));
}

static void
utf8_is_strict(void **state)
{
	(void)state;
	assert_true(text_is_utf8("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 10));
	assert_false(text_is_utf8("\xc0\x80", 2));         /* overlong */
	assert_false(text_is_utf8("\xe0\x80\x80", 3));
	assert_false(text_is_utf8("\xed\xa0\x80", 3));     /* surrogate */
	assert_false(text_is_utf8("\xf4\x90\x80\x80", 4)); /* above U+10FFFF */
	assert_false(text_is_utf8("\xe2\x82", 2));         /* cut */
	assert_false(text_is_utf8("\xff", 1));
}

static void
paths_compare_by_component(void **state)
{
	(void)state;
	assert_true(text_path_within("/srv/ws/proj", "/srv/ws/proj"));
	assert_true(text_path_within("/srv/ws/proj/sub", "/srv/ws/proj"));
	assert_false(text_path_within("/srv/ws/proj-evil", "/srv/ws/proj"));
	assert_true(text_path_within("/anything", "/"));
	assert_true(text_path_is_clean("/"));
	assert_true(text_path_is_clean("/a/b"));
	assert_true(text_path_is_clean("/a/..b"));
	assert_false(text_path_is_clean("/a/../b"));
	assert_false(text_path_is_clean("/a//b"));
	assert_false(text_path_is_clean("/a/"));
	assert_false(text_path_is_clean("/a/."));
	assert_false(text_path_is_clean("a"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_strict),
		cmocka_unit_test(uuid_survives_the_round),
		cmocka_unit_test(utf8_is_strict),
		cmocka_unit_test(paths_compare_by_component),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
