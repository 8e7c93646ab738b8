/* Base64 of shared/base64.c: the vectors of RFC 4648 section 10, and strictness.
 * links: shared/base64.c */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base64.h"

static void
rfc_vectors(void **state)
{
	static const char *const vectors[][2] = {
		{ "", "" }, { "f", "Zg==" }, { "fo", "Zm8=" }, { "foo", "Zm9v" },
		{ "foob", "Zm9vYg==" }, { "fooba", "Zm9vYmE=" }, { "foobar", "Zm9vYmFy" },
	};
	char text[BASE64_SIZE(6)], bytes[6];
	size_t length;

	(void)state;
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		base64_encode(text, vectors[i][0], strlen(vectors[i][0]));
		assert_string_equal(text, vectors[i][1]);
		assert_true(base64_decode(text, strlen(text), bytes, sizeof(bytes), &length));
		assert_int_equal(length, strlen(vectors[i][0]));
		assert_memory_equal(bytes, vectors[i][0], length);
	}
}

static void
every_byte_survives(void **state)
{
	unsigned char all[256], back[256];
	char text[BASE64_SIZE(256)];
	size_t length;

	(void)state;
	for (size_t i = 0; i < 256; i++)
		all[i] = (unsigned char)(255 - i);
	for (size_t most = 0; most <= 256; most++) {
		base64_encode(text, all, most);
		assert_true(base64_decode(text, strlen(text), back, most, &length));
		assert_int_equal(length, most);
		assert_memory_equal(all, back, most);
	}
}

static void
only_one_spelling_is_accepted(void **state)
{
	static const char *const wrong[] = { "Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "Zm-v", "Zm_v", " Zm9v",
	    "Zm9v\n", "Z===", "====", "=m9v", "Zm9vZg==Zm9v", "Zm9v=" };
	unsigned char bytes[16];
	size_t length;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (base64_decode(wrong[i], strlen(wrong[i]), bytes, sizeof(bytes), &length))
			fail_msg("accepted: \"%s\"", wrong[i]);
	assert_false(base64_decode("Zm\0v", 4, bytes, sizeof(bytes), &length));
}

static void
it_never_writes_more_than_it_may(void **state)
{
	unsigned char bytes[6] = { 0 };
	size_t length;

	(void)state;
	assert_false(base64_decode("Zm9vYmFy", 8, bytes, 5, &length));
	assert_int_equal(bytes[5], 0);
	assert_true(base64_decode("Zm9vYmE=", 8, bytes, 5, &length));
	assert_int_equal(bytes[5], 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rfc_vectors),
		cmocka_unit_test(every_byte_survives),
		cmocka_unit_test(only_one_spelling_is_accepted),
		cmocka_unit_test(it_never_writes_more_than_it_may),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
