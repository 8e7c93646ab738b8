/* Counting, hashing, head and tail of executor/keeper/stream.c, with a stand-in that masks each 'S'.
 * links: executor/keeper/stream.c shared/digest.c shared/log.c
 * libs: -lsodium */
#include <sys/mman.h>
#include <sys/resource.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stream.h"

/* --- the stand-in: holds one byte back, as the real one holds back a window ------ */

struct redactor {
	void (*sink)(void *context, const void *bytes, size_t length);
	void *context;
	uint64_t count;
	int held; /* -1: nothing */
};

struct redactor *
redact_open(void (*sink)(void *context, const void *bytes, size_t length), void *context)
{
	struct redactor *redactor = malloc(sizeof(*redactor));

	assert_non_null(redactor);
	*redactor = (struct redactor){ sink, context, 0, -1 };
	return redactor;
}

bool
redact_hide(struct redactor *redactor, const void *bytes, size_t length)
{
	(void)redactor, (void)bytes;
	return length > 0;
}

uint64_t
redact_count_of(const struct redactor *redactor, enum masked kind)
{
	return kind == MASKED_NAMED ? redactor->count : 0;
}

void
redact_end(struct redactor *redactor)
{
	const char byte = (char)redactor->held;

	if (redactor->held == 'S') {
		redactor->count++;
		redactor->sink(redactor->context, "<redacted>", 10);
	} else if (redactor->held >= 0)
		redactor->sink(redactor->context, &byte, 1);
	redactor->held = -1;
}

void
redact_feed(struct redactor *redactor, const void *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		redact_end(redactor);
		redactor->held = ((const unsigned char *)bytes)[i];
	}
}

uint64_t
redact_count(const struct redactor *redactor)
{
	return redactor->count;
}

void
redact_close(struct redactor *redactor)
{
	free(redactor);
}

/* --- helpers ---------------------------------------------------------------------- */

/* Feed bytes in pieces, finish; what the file holds goes to `file` (at least 4096 bytes). */
static size_t
run_stream(const char *bytes, size_t length, size_t piece, uint64_t keep, struct stream_end *end, char *file)
{
	int fd = memfd_create("out", MFD_CLOEXEC);
	struct stream stream;
	ssize_t stored;

	assert_true(stream_open(&stream, fd, keep));
	for (size_t at = 0; at < length; at += piece)
		stream_feed(&stream, bytes + at, length - at < piece ? length - at : piece);
	stream_finish(&stream, end);
	assert_int_equal(stream.fault, 0);
	stored = pread(fd, file, 4096, 0);
	stream_close(&stream);
	close(fd);
	assert_true(stored >= 0);
	return (size_t)stored;
}

static void
assert_digest(const uint8_t *digest, const void *bytes, size_t length)
{
	uint8_t expected[32];

	digest_take(expected, bytes, length);
	assert_memory_equal(digest, expected, 32);
}

/* --- tests -------------------------------------------------------------------------- */

static void
head_and_tail_hold_at_every_boundary(void **state)
{
	const char text[] = "abcdefghijklmnopqrstuvwxyz";
	char file[4096], expected[64];
	struct stream_end end;

	(void)state;
	for (size_t keep = 0; keep <= 11; keep++)
		for (size_t length = 0; length <= 26; length++)
			for (size_t piece = 1; piece <= 27; piece++) {
				size_t stored = run_stream(text, length, piece, keep, &end, file);
				size_t head = length <= keep ? length : keep / 2;
				size_t tail = length <= keep ? 0 : keep - keep / 2;

				memcpy(expected, text, head);
				memcpy(expected + head, text + length - tail, tail);
				assert_int_equal(stored, head + tail);
				assert_memory_equal(file, expected, stored);
				assert_int_equal(end.bytes, length);
				assert_int_equal(end.stored_bytes, stored);
				assert_int_equal(end.head_bytes, head);
				assert_digest(end.sha256, text, length);
				assert_digest(end.stored_sha256, expected, stored);
			}
}

static void
counts_and_digest_are_of_the_raw_bytes_and_the_cut_is_of_the_masked(void **state)
{
	char file[4096];
	struct stream_end end;
	size_t stored = run_stream("abSyz", 5, 2, 8, &end, file);

	(void)state;
	/* masked: ab<redacted>yz, 14 bytes; kept: 4 and 4 */
	assert_int_equal(stored, 8);
	assert_memory_equal(file, "ab<rd>yz", 8);
	assert_int_equal(end.bytes, 5);
	assert_int_equal(end.head_bytes, 4);
	assert_int_equal(end.redactions, 1);
	assert_digest(end.sha256, "abSyz", 5);
	assert_digest(end.stored_sha256, "ab<rd>yz", 8);
}

static void
what_the_redactor_held_back_is_not_lost(void **state)
{
	char file[4096];
	struct stream_end end;

	(void)state;
	assert_int_equal(run_stream("done", 4, 4, 100, &end, file), 4);
	assert_memory_equal(file, "done", 4);
	assert_int_equal(run_stream("S", 1, 1, 100, &end, file), 10);
	assert_memory_equal(file, "<redacted>", 10);
	assert_int_equal(end.redactions, 1);
}

static void
every_byte_value_is_kept_as_it_is(void **state)
{
	char bytes[256], file[4096];
	struct stream_end end;

	(void)state;
	for (int i = 0; i < 256; i++)
		bytes[i] = (char)i;
	bytes['S'] = 's';
	assert_int_equal(run_stream(bytes, 256, 100, 256, &end, file), 256);
	assert_memory_equal(file, bytes, 256);
	assert_int_equal(end.head_bytes, 256);
}

static void
a_full_disk_is_remembered_and_counting_goes_on(void **state)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct stream stream;
	struct stream_end end;

	(void)state;
	assert_true(stream_open(&stream, fd, 4));
	stream_feed(&stream, "abcdef", 6);
	stream_feed(&stream, "ghi", 3);
	stream_finish(&stream, &end);
	assert_int_equal(stream.fault, ENOSPC);
	assert_int_equal(end.bytes, 9);
	assert_int_equal(end.stored_bytes, 0);
	assert_int_equal(end.head_bytes, 0);
	assert_digest(end.sha256, "abcdefghi", 9);
	assert_digest(end.stored_sha256, "", 0);
	stream_close(&stream);
	close(fd);
}

/* A file that takes 3 bytes: the head is cut there, the digest is of what the file holds. */
static void
a_disk_that_fills_up_leaves_a_true_description(void **state)
{
	const struct rlimit small = { 3, RLIM_INFINITY }, large = { RLIM_INFINITY, RLIM_INFINITY };
	int fd = memfd_create("out", MFD_CLOEXEC);
	struct stream stream;
	struct stream_end end;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_true(stream_open(&stream, fd, 10));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	stream_feed(&stream, "abcdefghijklm", 13);
	stream_finish(&stream, &end);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &large), 0);
	assert_int_equal(stream.fault, EFBIG);
	assert_int_equal(end.bytes, 13);
	assert_int_equal(end.stored_bytes, 3);
	assert_int_equal(end.head_bytes, 3);
	assert_digest(end.stored_sha256, "abc", 3);
	stream_close(&stream);
	close(fd);
}

static int
open_library(void **state)
{
	(void)state;
	digest_open();
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(head_and_tail_hold_at_every_boundary),
		cmocka_unit_test(counts_and_digest_are_of_the_raw_bytes_and_the_cut_is_of_the_masked),
		cmocka_unit_test(what_the_redactor_held_back_is_not_lost),
		cmocka_unit_test(every_byte_value_is_kept_as_it_is),
		cmocka_unit_test(a_full_disk_is_remembered_and_counting_goes_on),
		cmocka_unit_test(a_disk_that_fills_up_leaves_a_true_description),
	};

	return cmocka_run_group_tests(tests, open_library, NULL);
}
