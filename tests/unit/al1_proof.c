/* links: auditor/record.c auditor/strict.c auditor/scan.c auditor/tree.c auditor/chain.c auditor/rekey.c auditor/cut.c auditor/walk.c shared/packed.c auditor/dispatch.c auditor/sign.c auditor/journal.c auditor/seals.c auditor/checkpoint.c auditor/verify/verify.c auditor/segments.c auditor/verify/prove.c auditor/verify/proof.c auditor/verify/remains.c shared/digest.c shared/text.c shared/base64.c shared/vkey.c shared/log.c shared/whole.c */
/* libs: -lsodium -lzstd */
/* Proofs and anchors of logs of every small size: made by the one side, believed by the other, and nothing else is. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <sys/wait.h>

#include <fcntl.h>

#include "al1_log.h"
#include "proof.h"
#include "prove.h"
#include "remains.h"

#define JOB "11111111-2222-4333-8444-555555555555"
#define LINES_MOST 40

static struct log made;
static struct verify seen; /* large */
static char path[] = "/tmp/al1-proof-XXXXXX";

/* Genesis, its seal, `count` records of which every third is the job's, a seal. */
static void
make_log(unsigned count)
{
	log_begin(&made);
	for (unsigned i = 0; i < count; i++)
		log_add(&made, RECORD_BROKER, "job.proposed", i % 3 == 0 ? "{\"job\":\"" JOB "\"}" : "{\"job\":\"other\"}");
	log_seal(&made);
}

static int
as_file(const char *bytes, size_t length)
{
	int fd = memfd_create("log", MFD_CLOEXEC);

	assert_int_equal(write(fd, bytes, length), length);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

/* One segment of the log that was made, to the verifier. */
static bool
feed(size_t segment)
{
	size_t until = segment + 1 < made.segment_count ? made.starts[segment + 1] : made.length;
	int fd = as_file(made.bytes + made.starts[segment], until - made.starts[segment]);
	bool more = verify_segment(&seen, fd, made.start_seqs[segment]);

	close(fd);
	return more;
}

/* In a child: read the log with standard output in the file. */
static bool
write_file(void (*begin)(struct verify *, const void *), bool (*end)(void), const void *argument)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		if (!freopen(path, "w", stdout))
			_exit(9);
		verify_begin(&seen, LOG_ORIGIN, NULL);
		begin(&seen, argument);
		for (size_t i = 0; i < made.segment_count; i++)
			feed(i);
		verify_end(&seen, 0);
		_exit(seen.verdict == VERDICT_OK && end() && fflush(stdout) == 0 ? 0 : 1);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void
start_proof(struct verify *verify, const void *job)
{
	prove_begin(verify, job);
}

static void
start_remains(struct verify *verify, const void *seq)
{
	remains_begin(verify, *(const uint64_t *)seq);
}

/* The verdict on the file; what it prints goes nowhere. */
static enum verdict
check_file(void)
{
	static uint8_t key[32];
	pid_t child;
	int status;

	log_key((const uint8_t[32]){ 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
	    24, 25, 26, 27, 28, 29, 30, 31 }, key);
	child = fork();
	if (child == 0) {
		if (!freopen("/dev/null", "w", stdout))
			_exit(9);
		verify_begin(&seen, LOG_ORIGIN, key);
		proof_check(&seen, path);
		_exit((int)seen.verdict);
	}
	waitpid(child, &status, 0);
	assert_true(WIFEXITED(status));
	return (enum verdict)WEXITSTATUS(status);
}

static void
every_record_of_every_small_log_is_proven(void **state)
{
	(void)state;
	for (unsigned count = 1; count <= LINES_MOST; count++) {
		make_log(count);
		assert_true(write_file(start_proof, prove_end, JOB));
		assert_int_equal(check_file(), VERDICT_OK);
	}
}

static void
a_job_without_a_record_has_no_proof(void **state)
{
	(void)state;
	make_log(5);
	assert_false(write_file(start_proof, prove_end, "11111111-2222-4333-8444-555555555556"));
}

/* The digits that nothing depends on: a seal's own sn, and how many lines had no seal at the cut. */
static bool
is_unproven(const char *bytes, ssize_t at)
{
	return memcmp(bytes + at - 5, "\"sn\":", 5) == 0 || memcmp(bytes + at - 6, "\"sn\":", 5) == 0 ||
	    memcmp(bytes + at - 11, "\"unsealed\":", 11) == 0;
}

static void
a_changed_byte_of_a_proof_proves_nothing(void **state)
{
	static char bytes[1u << 16];
	ssize_t length;
	int fd;

	(void)state;
	make_log(7);
	assert_true(write_file(start_proof, prove_end, JOB));
	fd = open(path, O_RDWR | O_CLOEXEC);
	length = read(fd, bytes, sizeof(bytes));
	assert_true(length > 2000);
	/* Every 7th: each takes a process. */
	for (ssize_t i = 0; i < length; i += 7) {
		char changed = (char)(bytes[i] ^ 1);

		assert_int_equal(pwrite(fd, &changed, 1, i), 1);
		if (check_file() == VERDICT_OK)
			assert_true(is_unproven(bytes, i));
		assert_int_equal(pwrite(fd, &bytes[i], 1, i), 1);
	}
	assert_int_equal(check_file(), VERDICT_OK);
	assert_int_equal(ftruncate(fd, length - 46), 0); /* without its last hash */
	assert_int_not_equal(check_file(), VERDICT_OK);
	close(fd);
}

/* --- anchors: a log of which the first segment is gone ------------------------------- */

static struct cut cut;

static const char *
find_cut(void *context, const struct chain *chain, const struct record *record)
{
	(void)context;
	if (strcmp(record->type, "log.segment") == 0)
		cut = chain_cut_before(chain, record);
	return NULL;
}

/* Two segments, the second with a log.prune of the first if it is told. */
static void
make_cut_log(unsigned count, bool told)
{
	char body[CUT_BODY];

	make_log(count);
	log_join(&made);
	log_seal(&made);
	memset(&seen, 0, sizeof(seen));
	verify_begin(&seen, LOG_ORIGIN, NULL);
	verify_watch(&seen, find_cut, NULL);
	feed(0);
	feed(1);
	memset(&seen, 0, sizeof(seen));
	cut_body(body, &cut, 0, 1);
	if (told)
		log_add(&made, RECORD_AUDITOR, "log.prune", body);
	log_add(&made, RECORD_BROKER, "job.proposed", "{}");
	log_seal(&made);
	assert_true(write_file(start_remains, remains_end, &cut.seq));
}

static enum verdict
verify_rest(void)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	memset(&seen.dispatch, 0, sizeof(seen.dispatch));
	seen.told = 0;
	verify_begin(&seen, LOG_ORIGIN, NULL);
	if (verify_anchors(&seen, fd))
		feed(1);
	close(fd);
	verify_end(&seen, 0);
	log_dump(&seen, (const char *[]){ made.bytes + made.starts[1] }, (size_t[]){ made.length - made.starts[1] },
	    &made.start_seqs[1], 1, path);
	return seen.verdict;
}

static void
what_stays_verifies_from_the_genesis_key_on(void **state)
{
	(void)state;
	for (unsigned count = 1; count <= LINES_MOST; count++) {
		make_cut_log(count, true);
		assert_int_equal(verify_rest(), VERDICT_OK);
		assert_int_equal(seen.walk.chain.cut.seq, cut.seq);
		assert_int_equal(seen.walk.chain.next_seq, made.line_count);
	}
}

static void
a_beginning_that_no_log_prune_tells_of_is_missed(void **state)
{
	(void)state;
	make_cut_log(5, false);
	assert_int_equal(verify_rest(), VERDICT_TAMPERED);
	assert_string_equal(seen.reason, "the beginning was removed and no log.prune tells it");
}

static void
a_changed_byte_of_the_anchors_is_found(void **state)
{
	static char bytes[1u << 16];
	ssize_t length;
	int fd;

	(void)state;
	make_cut_log(6, true);
	fd = open(path, O_RDWR | O_CLOEXEC);
	length = read(fd, bytes, sizeof(bytes));
	for (ssize_t i = 0; i < length; i++) {
		char changed = (char)(bytes[i] ^ 1);

		assert_int_equal(pwrite(fd, &changed, 1, i), 1);
		if (verify_rest() == VERDICT_OK)
			assert_true(is_unproven(bytes, i));
		assert_int_equal(pwrite(fd, &bytes[i], 1, i), 1);
	}
	close(fd);
}

static void
root_of_lines(size_t count, uint8_t root[32])
{
	struct tree tree = { 0 };

	for (size_t i = 0; i < count; i++)
		tree_add(&tree, made.bytes + made.lines[i], made.lines[i + 1] - made.lines[i]);
	tree_root(&tree, root);
}

static void
a_head_that_was_remembered_is_found_in_the_anchors(void **state)
{
	uint8_t root[32];

	(void)state;
	make_cut_log(6, true);
	/* The seal of the first segment covers 8 lines: genesis, its seal, six records. */
	for (unsigned change = 0; change < 2; change++) {
		root_of_lines(8, root);
		root[0] ^= (uint8_t)change;
		seen.notes[0].size = 8;
		memcpy(seen.notes[0].root, root, 32);
		seen.note_count = 1;
		assert_int_equal(verify_rest(), change ? VERDICT_CUT : VERDICT_OK);
	}
	seen.note_count = 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_record_of_every_small_log_is_proven),
		cmocka_unit_test(a_job_without_a_record_has_no_proof),
		cmocka_unit_test(a_changed_byte_of_a_proof_proves_nothing),
		cmocka_unit_test(what_stays_verifies_from_the_genesis_key_on),
		cmocka_unit_test(a_beginning_that_no_log_prune_tells_of_is_missed),
		cmocka_unit_test(a_changed_byte_of_the_anchors_is_found),
		cmocka_unit_test(a_head_that_was_remembered_is_found_in_the_anchors),
	};
	int fd = mkstemp(path), failed;

	close(fd);
	digest_open();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}
