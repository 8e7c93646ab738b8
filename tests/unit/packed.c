/* links: shared/packed.c shared/whole.c */
/* libs: -lzstd */
/* Compressed segments: what comes back, and every kind of file that is refused. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <sys/mman.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packed.h"

#define SIZE (3u << 20)

static struct packed packed;
static char content[SIZE], back[SIZE + 1];

static int
file_of(const void *bytes, size_t length)
{
	int fd = memfd_create("file", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, length), length);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

/* Lines as a log has them, half of it digests. */
static void
fill(void)
{
	unsigned x = 1;

	for (size_t i = 0; i < SIZE; i++) {
		x = x * 1103515245 + 12345;
		content[i] = i % 300 == 299 ? '\n' : i % 300 < 150 ? "0123456789abcdef"[x >> 16 & 15] : 'x';
	}
}

static int
compress(size_t length)
{
	int from = file_of(content, length), to = memfd_create("to", MFD_CLOEXEC);

	assert_int_equal(packed_make(from, to), 0);
	close(from);
	assert_int_equal(lseek(to, 0, SEEK_SET), 0);
	return to;
}

/* How much could be read; -1 with errno. */
static ssize_t
read_all(int fd, bool plain_only)
{
	size_t total = 0;
	ssize_t length = packed_open(&packed, fd, plain_only) < 0 ? -1 : 1;

	while (length > 0) {
		length = packed_read(&packed, back + total, total == SIZE ? 1 : SIZE - total);
		total += length > 0 ? (size_t)length : 0;
		assert_true(total <= SIZE);
	}
	packed_close(&packed);
	return length < 0 ? -1 : (ssize_t)total;
}

static void
assert_refused(int fd, const char *why)
{
	assert_int_equal(read_all(fd, false), -1);
	assert_int_equal(errno, EBADMSG);
	assert_string_equal(packed.why, why);
	close(fd);
}

/* The compressed file's bytes; *length of them. */
static uint8_t *
bytes_of(int fd, size_t *length)
{
	uint8_t *bytes = malloc(SIZE);
	ssize_t got = read(fd, bytes, SIZE);

	assert_true(got > 0);
	*length = (size_t)got;
	close(fd);
	return bytes;
}

static void
what_is_compressed_comes_back(void **state)
{
	static const size_t lengths[] = { 0, 1, 17, 18, 65536, 65537, SIZE };

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		int fd = compress(lengths[i]);

		assert_int_equal(read_all(fd, false), lengths[i]);
		assert_memory_equal(back, content, lengths[i]);
		assert_true(lengths[i] < SIZE || lseek(fd, 0, SEEK_CUR) < SIZE / 2);
		close(fd);
	}
}

static void
a_plain_file_comes_as_it_is(void **state)
{
	static const size_t lengths[] = { 0, 1, 3, 4, 65536, 65537, SIZE };

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		int fd = file_of(content, lengths[i]);

		assert_int_equal(read_all(fd, false), lengths[i]);
		assert_memory_equal(back, content, lengths[i]);
		close(fd);
	}
}

static void
where_only_plain_is_wanted_a_compressed_file_is_bytes(void **state)
{
	int fd = compress(1000);
	off_t length = lseek(fd, 0, SEEK_END);

	(void)state;
	lseek(fd, 0, SEEK_SET);
	assert_int_equal(read_all(fd, true), length);
	close(fd);
}

static void
every_cut_is_refused(void **state)
{
	size_t length;
	uint8_t *bytes = bytes_of(compress(5000), &length);

	(void)state;
	for (size_t cut = 4; cut < length; cut++) {
		int fd = file_of(bytes, cut);

		assert_int_equal(read_all(fd, false), -1);
		assert_int_equal(errno, EBADMSG);
		close(fd);
	}
	free(bytes);
}

static void
no_flipped_bit_gives_other_content(void **state)
{
	size_t length;
	uint8_t *bytes = bytes_of(compress(2000), &length);

	(void)state;
	/* Behind the magic number: a file without it is a plain one. */
	for (size_t bit = 32; bit < length * 8; bit++) {
		int fd;

		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		fd = file_of(bytes, length);
		if (read_all(fd, false) >= 0)
			assert_memory_equal(back, content, 2000);
		close(fd);
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	free(bytes);
}

static void
bytes_behind_the_frame_and_a_second_frame_are_refused(void **state)
{
	size_t length;
	uint8_t *bytes = bytes_of(compress(5000), &length);

	(void)state;
	bytes[length] = '\n';
	assert_refused(file_of(bytes, length + 1), "compressed: bytes behind the frame");
	memcpy(bytes + length, bytes, length);
	assert_refused(file_of(bytes, 2 * length), "compressed: bytes behind the frame");
	free(bytes);
}

/* Headers by hand (RFC 8878, section 3.1.1.1): descriptor, window, content size; then one RLE block. */
static void
a_bomb_is_refused_before_it_unpacks(void **state)
{
	static const uint8_t huge[] = { 0x28, 0xb5, 0x2f, 0xfd, 0xc0, 0x00, 0, 0, 0, 0, 0, 1, 0, 0, 0x03, 0, 0, 'x' };
	static const uint8_t unstated[] = { 0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x00, 0x03, 0, 0, 'x', 0, 0, 0, 0, 0, 0, 0, 0 };
	/* 100 MiB stated, and as window too: it is a single segment. */
	static const uint8_t wide[] = { 0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0x40, 0x06, 0x03, 0, 0, 'x', 0, 0, 0, 0, 0 };

	(void)state;
	assert_refused(file_of(huge, sizeof(huge)), "compressed: larger than any segment");
	assert_refused(file_of(unstated, sizeof(unstated)), "compressed: the frame does not state its size");
	assert_refused(file_of(wide, sizeof(wide)), "compressed: the frame is damaged");
}

/* Ten bytes are stated, and RLE blocks of 100 kB each follow. */
static void
more_than_was_stated_is_refused(void **state)
{
	uint8_t bytes[64] = { 0x28, 0xb5, 0x2f, 0xfd, 0x20, 10 };
	const uint32_t block = 100000u << 3 | 1 << 1;

	(void)state;
	for (size_t at = 6; at + 4 <= sizeof(bytes); at += 4) {
		bytes[at] = (uint8_t)block;
		bytes[at + 1] = (uint8_t)(block >> 8);
		bytes[at + 2] = (uint8_t)(block >> 16);
		bytes[at + 3] = 'x';
	}
	assert_refused(file_of(bytes, sizeof(bytes)), "compressed: the frame is damaged");
}

static void
a_file_larger_than_any_segment_is_not_compressed(void **state)
{
	int from = memfd_create("from", MFD_CLOEXEC), to = memfd_create("to", MFD_CLOEXEC);

	(void)state;
	assert_int_equal(ftruncate(from, (off_t)PACKED_MOST + 1), 0);
	assert_int_equal(packed_make(from, to), -1);
	assert_int_equal(errno, EFBIG);
	close(from);
	close(to);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_compressed_comes_back),
		cmocka_unit_test(a_plain_file_comes_as_it_is),
		cmocka_unit_test(where_only_plain_is_wanted_a_compressed_file_is_bytes),
		cmocka_unit_test(every_cut_is_refused),
		cmocka_unit_test(no_flipped_bit_gives_other_content),
		cmocka_unit_test(bytes_behind_the_frame_and_a_second_frame_are_refused),
		cmocka_unit_test(a_bomb_is_refused_before_it_unpacks),
		cmocka_unit_test(more_than_was_stated_is_refused),
		cmocka_unit_test(a_file_larger_than_any_segment_is_not_compressed),
	};

	fill();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
