/* Tagged fields and sealed memfds of shared/fields.c.
 * links: shared/fields.c */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/mman.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fields.h"
#include "limits.h"

static void
write_three(struct fields_writer *writer)
{
	fields_begin(writer, "TESTTEST");
	fields_put_u64(writer, 1, 0x1122334455667788);
	fields_put_text(writer, 2, "two");
	fields_put(writer, 2, "", 0);
	fields_put(writer, 7, "\0\1\2", 3);
	assert_false(writer->failed);
}

static void
what_is_written_is_read(void **state)
{
	struct fields_writer writer;
	struct fields_reader reader;
	struct field field;
	char text[4], bytes[3];
	uint64_t number;

	(void)state;
	write_three(&writer);
	assert_true(fields_open(&reader, "TESTTEST", writer.bytes, writer.length));
	assert_true(fields_next(&reader, &field) && field.tag == 1);
	assert_true(field_u64(&field, &number) && number == 0x1122334455667788);
	assert_true(fields_next(&reader, &field) && field.tag == 2);
	assert_true(field_text(&field, text, sizeof(text)));
	assert_string_equal(text, "two");
	assert_true(fields_next(&reader, &field) && field.tag == 2 && field.length == 0);
	assert_true(fields_next(&reader, &field) && field.tag == 7);
	assert_true(field_copy(&field, bytes, 3));
	assert_memory_equal(bytes, "\0\1\2", 3);
	assert_false(fields_complete(&reader) && fields_next(&reader, &field));
	assert_true(fields_complete(&reader));
	fields_free(&writer);
}

static void
the_bytes_are_the_documented_ones(void **state)
{
	static const char wanted[] = "TESTTEST" "\x01\x00\x00\x00\x08\x00\x00\x00" "\x88\x77\x66\x55\x44\x33\x22\x11"
	    "\x02\x00\x00\x00\x03\x00\x00\x00" "two" "\x02\x00\x00\x00\x00\x00\x00\x00"
	    "\x07\x00\x00\x00\x03\x00\x00\x00" "\x00\x01\x02";
	struct fields_writer writer;

	(void)state;
	write_three(&writer);
	assert_int_equal(writer.length, sizeof(wanted) - 1);
	assert_memory_equal(writer.bytes, wanted, writer.length);
	fields_free(&writer);
}

/* Number of fields up to the end, or -1 when the reader says the bytes are broken. */
static int
count_fields(const void *bytes, size_t length)
{
	/* A copy of exactly that length: one byte read too far is seen by the sanitizer. */
	void *copy = malloc(length ? length : 1);
	struct fields_reader reader;
	struct field field;
	int count = 0;

	assert_non_null(copy);
	memcpy(copy, bytes, length);
	if (fields_open(&reader, "TESTTEST", copy, length))
		while (fields_next(&reader, &field))
			count++;
	if (!fields_complete(&reader))
		count = -1;
	free(copy);
	return count;
}

static void
a_cut_is_seen_unless_it_is_between_fields(void **state)
{
	static const size_t between[] = { 8, 24, 35, 43, 54 };
	struct fields_writer writer;
	size_t known = 0;

	(void)state;
	write_three(&writer);
	assert_int_equal(writer.length, 54);
	for (size_t length = 0; length <= writer.length; length++) {
		int count = count_fields(writer.bytes, length);

		if (length == between[known])
			assert_int_equal(count, (int)known++);
		else
			assert_int_equal(count, -1);
	}
	fields_free(&writer);
}

static void
broken_headers_are_refused(void **state)
{
	static const struct {
		size_t at;
		unsigned char value;
		const char *what;
	} cases[] = {
		{ 0, 'X', "magic" },
		{ 10, 1, "spare word" },
		{ 11, 1, "spare word" },
		{ 24, 0, "tag 2 becomes 0: decreasing" },
		{ 35, 1, "tag 2 after 2 becomes 1: decreasing" },
		{ 15, 0x80, "length beyond the end" },
		{ 47, 4, "last length one too long" },
	};
	struct fields_writer writer;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		write_three(&writer);
		if (cases[i].at == 47)
			writer.bytes[47] = 4;
		else
			writer.bytes[cases[i].at] = cases[i].value;
		if (count_fields(writer.bytes, writer.length) != -1)
			fail_msg("accepted: %s", cases[i].what);
		fields_free(&writer);
	}
}

static void
a_writer_that_failed_stays_failed(void **state)
{
	struct fields_writer writer;

	(void)state;
	fields_begin(&writer, "TESTTEST");
	fields_put_u64(&writer, 5, 1);
	fields_put_u64(&writer, 4, 1);
	assert_true(writer.failed);
	fields_put_u64(&writer, 6, 1);
	assert_true(writer.failed);
	assert_int_equal(fields_seal(&writer, "test"), -1);
	fields_free(&writer);
}

static void
a_writer_stops_at_the_limit(void **state)
{
	size_t fits = LIMIT_FIELDS_BYTES - 8 - 8;
	char *large = calloc(1, fits + 1);
	struct fields_writer writer;

	(void)state;
	assert_non_null(large);
	fields_begin(&writer, "TESTTEST");
	fields_put(&writer, 1, large, fits);
	assert_false(writer.failed);
	assert_int_equal(writer.length, LIMIT_FIELDS_BYTES);
	fields_put(&writer, 1, "", 0);
	assert_true(writer.failed);
	fields_free(&writer);
	fields_begin(&writer, "TESTTEST");
	fields_put(&writer, 1, large, fits + 1);
	assert_true(writer.failed);
	fields_free(&writer);
	free(large);
}

static void
values_have_one_shape(void **state)
{
	struct field seven = { 1, (const unsigned char *)"1234567", 7 };
	struct field nine = { 1, (const unsigned char *)"123456789", 9 };
	struct field with_nul = { 1, (const unsigned char *)"a\0b", 3 };
	uint64_t number;
	char text[8];

	(void)state;
	assert_false(field_u64(&seven, &number));
	assert_false(field_u64(&nine, &number));
	assert_true(field_text(&seven, text, 8));
	assert_false(field_text(&seven, text, 7));
	assert_false(field_text(&with_nul, text, sizeof(text)));
	assert_false(field_copy(&seven, text, 8));
	assert_false(field_copy(&seven, text, 6));
}

static void
only_a_fully_sealed_memfd_is_mapped(void **state)
{
	static const int seals[] = { F_SEAL_WRITE, F_SEAL_GROW, F_SEAL_SHRINK, F_SEAL_SEAL };
	size_t length;
	int fd, plain[2];

	(void)state;
	for (size_t missing = 0; missing < 4; missing++) {
		fd = memfd_create("test", MFD_ALLOW_SEALING | MFD_CLOEXEC);
		assert_int_equal(write(fd, "abc", 3), 3);
		for (size_t i = 0; i < 4; i++)
			if (i != missing)
				assert_return_code(fcntl(fd, F_ADD_SEALS, seals[i]), errno);
		assert_null(sealed_map(fd, 100, &length));
		assert_int_equal(errno, EPROTO);
		close(fd);
	}
	assert_return_code(pipe2(plain, O_CLOEXEC), errno);
	assert_null(sealed_map(plain[0], 100, &length));
	assert_int_equal(errno, EPROTO);
	close(plain[0]);
	close(plain[1]);
	assert_null(sealed_map(-1, 100, &length));
}

static void
a_sealed_memfd_keeps_its_bytes_and_bound(void **state)
{
	int fd = sealed_make("test", "abc", 3), empty = sealed_make("test", NULL, 0);
	const void *bytes;
	size_t length;

	(void)state;
	assert_true(fd >= 0 && empty >= 0);
	assert_int_equal(write(fd, "x", 1), -1);
	assert_int_equal(ftruncate(fd, 1), -1);
	bytes = sealed_map(fd, 3, &length);
	assert_non_null(bytes);
	assert_int_equal(length, 3);
	assert_memory_equal(bytes, "abc", 3);
	sealed_unmap(bytes, length);
	assert_null(sealed_map(fd, 2, &length));
	assert_int_equal(errno, EFBIG);
	bytes = sealed_map(empty, 0, &length);
	assert_non_null(bytes);
	assert_int_equal(length, 0);
	sealed_unmap(bytes, length);
	close(fd);
	close(empty);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(the_bytes_are_the_documented_ones),
		cmocka_unit_test(a_cut_is_seen_unless_it_is_between_fields),
		cmocka_unit_test(broken_headers_are_refused),
		cmocka_unit_test(a_writer_that_failed_stays_failed),
		cmocka_unit_test(a_writer_stops_at_the_limit),
		cmocka_unit_test(values_have_one_shape),
		cmocka_unit_test(only_a_fully_sealed_memfd_is_mapped),
		cmocka_unit_test(a_sealed_memfd_keeps_its_bytes_and_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
