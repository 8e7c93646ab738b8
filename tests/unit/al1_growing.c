/* links: $(AUDITOR) */
/* libs: -lsodium -lzstd */
/*
 * A log that is written while somebody verifies it.  A reader sees any begin of what is written, and may see more
 * the next time it reads: none of that is tampering.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <sys/syscall.h>

#include "al1_log.h"

static struct log made;
static int growing_fd = -1;
static size_t there, grows_to; /* how much of the log is in the file; what is added once its end was read */

/* Whoever reads the end of the file is answered so, and what the auditor was writing is there at once behind. */
ssize_t
read(int fd, void *bytes, size_t size)
{
	ssize_t length = syscall(SYS_read, fd, bytes, size);

	if (fd == growing_fd && length == 0 && there < grows_to) {
		assert_int_equal(pwrite(fd, made.bytes + there, grows_to - there, (off_t)there), grows_to - there);
		there = grows_to;
	}
	return length;
}

static enum verdict
judge(size_t from, size_t to)
{
	growing_fd = memfd_create("segment", MFD_CLOEXEC);
	assert_int_equal(write(growing_fd, made.bytes, from), from);
	assert_int_equal(lseek(growing_fd, 0, SEEK_SET), 0);
	there = from;
	grows_to = to;
	log_forget();
	verify_begin(&log_verdict, LOG_ORIGIN, NULL);
	verify_segment(&log_verdict, growing_fd, 0);
	verify_end(&log_verdict, 0);
	close(growing_fd);
	growing_fd = -1;
	return log_verdict.verdict;
}

static int
begin(void **state)
{
	(void)state;
	log_begin(&made);
	log_add(&made, RECORD_BROKER, "job.proposed", "{}");
	log_seal(&made);
	for (unsigned i = 0; i < 3; i++)
		log_add(&made, RECORD_BROKER, "job.proposed", "{\"label\":\"more\"}");
	log_seal(&made);
	return 0;
}

static bool
is_line_end(size_t at)
{
	return made.bytes[at - 1] == '\n';
}

static void
what_is_written_meanwhile_is_not_part_of_what_was_read(void **state)
{
	size_t sealed = made.lines[4];

	(void)state;
	for (size_t from = sealed; from <= made.length; from++)
		for (size_t to = from; to <= made.length; to += 97) {
			enum verdict verdict = judge(from, to);
			bool whole = from == sealed || from == made.length;

			if (verdict != (whole ? VERDICT_OK : VERDICT_INCOMPLETE))
				fail_msg("%zu, then %zu of %zu bytes: %s: %s", from, to, made.length, log_verdict.word,
				    log_verdict.reason);
			/* Whole lines hold, a piece is told as one. */
			assert_int_equal(log_verdict.walk.torn == 0, is_line_end(from));
		}
}

/* The control: a piece with a line end in it, all of it there from the first, is a fault. */
static void
a_line_that_does_not_hold_is_tampering_still(void **state)
{
	(void)state;
	made.bytes[made.lines[5] + 12] ^= 1;
	assert_int_equal(judge(made.length, made.length), VERDICT_TAMPERED);
	assert_int_equal(judge(made.lines[6], made.length), VERDICT_TAMPERED);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(what_is_written_meanwhile_is_not_part_of_what_was_read, begin),
		cmocka_unit_test_setup(a_line_that_does_not_hold_is_tampering_still, begin),
	};

	digest_open();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
