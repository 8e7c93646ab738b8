/* links: auditor/record.c auditor/strict.c auditor/scan.c auditor/tree.c auditor/chain.c auditor/rekey.c auditor/cut.c auditor/walk.c shared/packed.c auditor/dispatch.c auditor/sign.c auditor/journal.c auditor/seals.c auditor/checkpoint.c auditor/verify/verify.c auditor/segments.c shared/digest.c shared/text.c shared/base64.c shared/vkey.c shared/log.c shared/whole.c */
/* libs: -lsodium -lzstd */
/* The format against vectors that another implementation made: every byte, and every change of one. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base64.h"
#include "text.h"

#include "al1_log.h"

#define FOLDER "tests/unit/al1-vectors/"
#define SECOND_SEQ 10
#define LINES 14

static char vectors[2][8192]; /* the two segments */
static size_t lengths[2];
static uint8_t genesis_key[32];

static size_t
read_file(const char *path, char *bytes, size_t size)
{
	FILE *file = fopen(path, "r");
	size_t length;

	assert_non_null(file);
	length = fread(bytes, 1, size - 1, file);
	fclose(file);
	bytes[length] = '\0';
	return length;
}

static int
read_vectors(void **state)
{
	char trust[256];
	size_t length;

	(void)state;
	digest_open();
	lengths[0] = read_file(FOLDER "seg-00000000000000000000.jsonl", vectors[0], sizeof(vectors[0]));
	lengths[1] = read_file(FOLDER "seg-00000000000000000010.jsonl", vectors[1], sizeof(vectors[1]));
	read_file(FOLDER "trust", trust, sizeof(trust));
	assert_true(base64_decode(strchr(trust, ' ') + 1, 44, genesis_key, 32, &length));
	return 0;
}

/* The vectors with `bytes` in place of one segment. */
static enum verdict
judge(const char *first, size_t first_length, const char *second, size_t second_length, size_t count)
{
	const char *segments[] = { first, second };
	size_t sizes[] = { first_length, second_length };
	uint64_t seqs[] = { 0, SECOND_SEQ };

	return log_judge_segments(segments, sizes, seqs, count, genesis_key, 0);
}

/* "sha256": "<hex>" of line n in expected.json, in order; the same for roots. */
static const char *
expected(const char *json, const char *name, size_t number, char *value)
{
	char key[64];
	const char *at = strstr(json, "\"lines\"");

	snprintf(key, sizeof(key), "\"%s\": \"", name);
	for (size_t i = 0; i <= number; i++)
		at = strstr(at, key) + strlen(key);
	memcpy(value, at, 64);
	value[strcspn(value, "\"")] = '\0';
	return value;
}

static void
hashes_and_roots_are_as_expected(void **state)
{
	static char json[16384];
	static struct walk walk;
	char *segment = vectors[0], value[65] = "", text[65];
	struct record record;

	(void)state;
	read_file(FOLDER "expected.json", json, sizeof(json));
	chain_begin(&walk.chain, LOG_ORIGIN, genesis_key);
	for (size_t i = 0; i < LINES; i++) {
		size_t length;
		uint8_t root[32];

		if (i == SECOND_SEQ) {
			chain_join(&walk.chain, &(struct chain_joint){ 0 });
			segment = vectors[1];
		}
		length = (size_t)(strchr(segment, '\n') + 1 - segment);
		assert_null(chain_take(&walk.chain, segment, length, &record));
		segment += length;
		text_hex(text, walk.chain.head, 32);
		assert_string_equal(text, expected(json, "sha256", i, value));
		tree_root(&walk.chain.tree, root);
		base64_encode(text, root, 32);
		assert_string_equal(text, expected(json, "root_after", i, value));
	}
}

/* Our writer, given the vectors' key, clock and bodies, writes the vectors. */
static void
our_writer_writes_the_same_bytes(void **state)
{
	static struct log log;
	size_t at = 0;

	(void)state;
	log_empty(&log);
	for (size_t i = 0; i < LINES; i++) {
		const char *line = at < lengths[0] ? vectors[0] + at : vectors[1] + at - lengths[0];
		size_t length = (size_t)(strchr(line, '\n') + 1 - line);
		struct record record;
		const char *why;

		assert_true(record_parse(line, length, &record, &why));
		log.now_us = record_time_us(record.time) - 250000;
		if (strcmp(record.type, "log.seal") == 0)
			log_seal(&log);
		else {
			record.seq = record.sn = 0; /* counted by the writer */
			log_put(&log, record);
		}
		assert_int_equal(log.length - at, length);
		assert_memory_equal(log.bytes + at, line, length);
		at += length;
	}
}

static void
the_vectors_verify(void **state)
{
	(void)state;
	log_forget();
	assert_int_equal(judge(vectors[0], lengths[0], vectors[1], lengths[1], 2), VERDICT_OK);
	assert_int_equal(log_verdict.walk.chain.next_seq, LINES);
	assert_int_equal(log_verdict.walk.chain.next_seal, 5);
}

/* 11,934 single-byte changes: all found, and only those of the very last newline are a cut. */
static void
every_flipped_byte_is_found(void **state)
{
	static const unsigned char masks[] = { 0x01, 0x20, 0x80 };
	size_t tampered = 0, incomplete = 0;

	(void)state;
	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < lengths[k]; i++)
			for (size_t m = 0; m < sizeof(masks); m++) {
				enum verdict verdict;

				log_forget();
				vectors[k][i] = (char)(vectors[k][i] ^ masks[m]);
				verdict = judge(vectors[0], lengths[0], vectors[1], lengths[1], 2);
				vectors[k][i] = (char)(vectors[k][i] ^ masks[m]);
				tampered += verdict == VERDICT_TAMPERED;
				incomplete += verdict == VERDICT_INCOMPLETE;
				if (verdict == VERDICT_INCOMPLETE)
					assert_true(k == 1 && i == lengths[1] - 1);
			}
	assert_int_equal(tampered, 3 * (lengths[0] + lengths[1]) - 3);
	assert_int_equal(incomplete, 3);
}

/* Where line n ends in the concatenation of both segments. */
static size_t
line_end(size_t number)
{
	size_t at = 0;

	for (size_t i = 0; i <= number; i++) {
		const char *segment = at < lengths[0] ? vectors[0] + at : vectors[1] + at - lengths[0];

		at += (size_t)(strchr(segment, '\n') + 1 - segment);
	}
	return at;
}

static enum verdict
judge_cut(size_t cut)
{
	if (cut <= lengths[0])
		return judge(vectors[0], cut, NULL, 0, cut > 0 ? 1 : 0);
	return judge(vectors[0], lengths[0], vectors[1], cut - lengths[0], 2);
}

static void
every_cut_is_told_by_its_place(void **state)
{
	size_t valid = 0;

	(void)state;
	for (size_t cut = 0; cut < lengths[0] + lengths[1]; cut++) {
		enum verdict verdict;

		log_forget();
		verdict = judge_cut(cut);
		valid += verdict == VERDICT_OK;
		if (cut < line_end(1))
			assert_int_equal(verdict, VERDICT_TAMPERED);
		else if (cut == line_end(6) || cut == line_end(9) || cut == line_end(11))
			assert_int_equal(verdict, VERDICT_OK); /* the limit: a cut at a seal, and no memory */
		else
			assert_int_equal(verdict, VERDICT_INCOMPLETE);
	}
	assert_int_equal(valid, 3);
}

static void
a_remembered_head_tells_every_cut_before_it(void **state)
{
	(void)state;
	for (size_t cut = 0; cut < lengths[0] + lengths[1]; cut++) {
		enum verdict verdict;

		log_forget();
		log_verdict.notes[0].size = 13;
		log_verdict.note_count = 1;
		/* the root that the last seal signs: over lines 0 to 12 */
		base64_decode("7v5ekwXLTZeiMmgiIoMFUWDY4VNQgV9j5mlUDg10AZo=", 44, log_verdict.notes[0].root, 32,
		    &(size_t){ 0 });
		verdict = judge_cut(cut);
		if (cut < line_end(1))
			assert_int_equal(verdict, VERDICT_TAMPERED);
		else
			assert_int_equal(verdict, cut < line_end(12) ? VERDICT_CUT : VERDICT_INCOMPLETE);
	}
}

static void
another_root_at_a_remembered_size_is_a_fork(void **state)
{
	(void)state;
	log_forget();
	log_verdict.notes[0] = (struct verify_note){ .size = 9, .root = { 1 } };
	log_verdict.note_count = 1;
	assert_int_equal(judge(vectors[0], lengths[0], vectors[1], lengths[1], 2), VERDICT_CUT);
	assert_string_equal(log_verdict.word, "forked");
}

/* --- whole lines ------------------------------------------------------------------ */

static const char *line_at[LINES + 1];
static size_t line_length[LINES + 1];

/* The log with its lines in this order; the second segment begins with the line that was its first. */
static enum verdict
judge_order(const size_t *order, size_t count, size_t second)
{
	static char bytes[2][16384];
	size_t sizes[2] = { 0 };

	for (size_t i = 0; i < count; i++) {
		size_t k = i >= second;

		memcpy(bytes[k] + sizes[k], line_at[order[i]], line_length[order[i]]);
		sizes[k] += line_length[order[i]];
	}
	log_forget();
	return judge(bytes[0], sizes[0], bytes[1], sizes[1], 2);
}

static void
find_lines(void)
{
	for (size_t i = 0, at = 0; i < LINES; i++) {
		line_at[i] = at < lengths[0] ? vectors[0] + at : vectors[1] + at - lengths[0];
		line_length[i] = (size_t)(strchr(line_at[i], '\n') + 1 - line_at[i]);
		at += line_length[i];
	}
}

static void
a_deleted_line_is_found(void **state)
{
	size_t order[LINES];

	(void)state;
	find_lines();
	for (size_t gone = 0; gone < LINES; gone++) {
		size_t count = 0;

		for (size_t i = 0; i < LINES; i++)
			if (i != gone)
				order[count++] = i;
		/* without its last line it is a log that was cut there */
		assert_int_equal(judge_order(order, count, gone < SECOND_SEQ ? SECOND_SEQ - 1 : SECOND_SEQ),
		    gone == LINES - 1 ? VERDICT_INCOMPLETE : VERDICT_TAMPERED);
	}
}

static void
a_doubled_line_is_found(void **state)
{
	size_t order[LINES + 1];

	(void)state;
	find_lines();
	for (size_t twice = 0; twice < LINES; twice++) {
		size_t count = 0;

		for (size_t i = 0; i < LINES; i++) {
			order[count++] = i;
			if (i == twice)
				order[count++] = i;
		}
		assert_int_equal(judge_order(order, count, twice < SECOND_SEQ ? SECOND_SEQ + 1 : SECOND_SEQ),
		    VERDICT_TAMPERED);
	}
}

static void
two_swapped_lines_are_found(void **state)
{
	size_t order[LINES];

	(void)state;
	find_lines();
	for (size_t one = 0; one < LINES; one++)
		for (size_t other = one + 1; other < LINES; other++) {
			for (size_t i = 0; i < LINES; i++)
				order[i] = i == one ? other : i == other ? one : i;
			assert_int_equal(judge_order(order, LINES, SECOND_SEQ), VERDICT_TAMPERED);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hashes_and_roots_are_as_expected),
		cmocka_unit_test(our_writer_writes_the_same_bytes),
		cmocka_unit_test(the_vectors_verify),
		cmocka_unit_test(every_flipped_byte_is_found),
		cmocka_unit_test(every_cut_is_told_by_its_place),
		cmocka_unit_test(a_remembered_head_tells_every_cut_before_it),
		cmocka_unit_test(another_root_at_a_remembered_size_is_a_fork),
		cmocka_unit_test(a_deleted_line_is_found),
		cmocka_unit_test(a_doubled_line_is_found),
		cmocka_unit_test(two_swapped_lines_are_found),
	};

	return cmocka_run_group_tests(tests, read_vectors, NULL);
}
