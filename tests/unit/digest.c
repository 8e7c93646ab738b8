/* SHA-256 of shared/digest.c: the vectors of FIPS 180-2 appendix B, whole and in pieces.
 * links: shared/digest.c shared/log.c shared/text.c
 * libs: -lsodium */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "digest.h"
#include "text.h"

static void
assert_digest(const uint8_t digest[DIGEST_BYTES], const char *wanted)
{
	char text[2 * DIGEST_BYTES + 1];

	text_hex(text, digest, DIGEST_BYTES);
	assert_string_equal(text, wanted);
}

static void
known_vectors(void **state)
{
	static const char two_blocks[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
	uint8_t digest[DIGEST_BYTES];

	(void)state;
	digest_take(digest, "", 0);
	assert_digest(digest, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	digest_take(digest, "abc", 3);
	assert_digest(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	digest_take(digest, two_blocks, strlen(two_blocks));
	assert_digest(digest, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

static void
pieces_make_the_same_digest(void **state)
{
	char *million = malloc(1000000);
	struct digest_state pieces;
	uint8_t digest[DIGEST_BYTES];
	size_t at = 0;

	(void)state;
	assert_non_null(million);
	memset(million, 'a', 1000000);
	digest_begin(&pieces);
	for (size_t length = 0; at < 1000000; length = length % 127 + 1) {
		size_t n = length < 1000000 - at ? length : 1000000 - at;

		digest_add(&pieces, million + at, n);
		at += n;
	}
	digest_end(&pieces, digest);
	assert_digest(digest, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
	free(million);
}

static void
random_bytes_differ(void **state)
{
	uint8_t one[32] = { 0 }, two[32] = { 0 };

	(void)state;
	random_bytes(one, sizeof(one));
	random_bytes(two, sizeof(two));
	assert_memory_not_equal(one, two, sizeof(one));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_vectors),
		cmocka_unit_test(pieces_make_the_same_digest),
		cmocka_unit_test(random_bytes_differ),
	};

	digest_open();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
