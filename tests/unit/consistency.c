/* Consistency proofs: auditor/consistency.c and auditor/history.c against RFC 6962 in another language.
 * tests/unit/data/consistency.txt is what tests/support/notes.py proofs 130 prints.
 * links: auditor/consistency.c auditor/history.c auditor/tree.c shared/digest.c shared/log.c
 * libs: -lsodium */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "digest.h"

#include "history.h"

#define MOST 130
#define LONG 9000

static uint8_t leaves[LONG][32];
static uint8_t roots[LONG + 1][32];
static struct history history; /* large */

/* Leaf i is the text of i, as in notes.py. */
static int
make_leaves(void **state)
{
	struct tree tree = { 0 };
	char text[16];

	(void)state;
	digest_open();
	for (unsigned i = 0; i < LONG; i++) {
		snprintf(text, sizeof(text), "%u", i);
		tree_leaf(leaves[i], text, strlen(text));
		tree_add_leaf(&tree, leaves[i]);
		tree_root(&tree, roots[i + 1]);
	}
	return 0;
}

static bool
read_block(void *context, uint64_t seq, uint8_t to[HISTORY_BLOCK][32])
{
	unsigned *reads = context;

	++*reads;
	if (seq + HISTORY_BLOCK > LONG)
		return false;
	memcpy(to, leaves[seq], HISTORY_BLOCK * 32);
	return true;
}

static unsigned reads;

/* The history of the first `size` leaves, what came before `cut` being known by its peaks alone. */
static void
begin(uint64_t cut, uint64_t size)
{
	struct tree tree = { 0 };

	for (size_t i = 0; i < HISTORY_CHUNKS; i++)
		free(history.chunks[i]);
	memset(&history, 0, sizeof(history));
	history.read = read_block;
	history.context = &reads;
	reads = 0;
	for (uint64_t i = 0; i < cut; i++)
		tree_add_leaf(&tree, leaves[i]);
	if (cut > 0)
		history_begin_at(&history, &tree);
	for (uint64_t i = cut; i < size; i++)
		history_add(&history, leaves[i]);
}

static void
put_u64(uint8_t *to, uint64_t value)
{
	for (size_t i = 0; i < 8; i++)
		to[i] = (uint8_t)(value >> 8 * (7 - i));
}

static void
every_proof_of_130_sizes_is_as_the_rfc_has_it(void **state)
{
	FILE *file = fopen("tests/unit/data/consistency.txt", "re");
	uint8_t proof[CONSISTENCY_MOST][32], head[16], digest[32];
	char wanted[65], hex[65];
	unsigned size, lines = 0;
	size_t count;

	(void)state;
	assert_non_null(file);
	while (fscanf(file, "%u %64s", &size, wanted) == 2) {
		struct digest_state all;

		begin(0, size);
		digest_begin(&all);
		digest_add(&all, roots[size], 32);
		for (uint64_t old = 1; old <= size; old++) {
			assert_true(history_prove(&history, old, size, proof, &count));
			put_u64(head, old);
			put_u64(head + 8, count);
			digest_add(&all, head, sizeof(head));
			digest_add(&all, proof, count * 32);
		}
		digest_end(&all, digest);
		for (size_t i = 0; i < 32; i++)
			snprintf(hex + 2 * i, 3, "%02x", digest[i]);
		assert_string_equal(hex, wanted);
		lines++;
	}
	fclose(file);
	assert_int_equal(lines, MOST);
}

static bool
holds(uint64_t old, uint64_t size, uint8_t (*proof)[32], size_t count)
{
	return consistency_holds(old, roots[old], size, roots[size], (const uint8_t (*)[32])proof, count);
}

static void
a_proof_holds_for_its_two_sizes_and_no_others(void **state)
{
	uint8_t proof[CONSISTENCY_MOST][32];
	size_t count;

	(void)state;
	for (uint64_t size = 1; size <= 70; size++) {
		begin(0, size);
		for (uint64_t old = 1; old <= size; old++) {
			assert_true(history_prove(&history, old, size, proof, &count));
			for (uint64_t other = 1; other <= 70; other++) {
				assert_int_equal(holds(old, other, proof, count), other == size);
				if (other <= size)
					assert_int_equal(holds(other, size, proof, count), other == old);
			}
		}
	}
}

static void
no_bit_of_a_proof_can_be_another_and_no_hash_be_missing_or_too_many(void **state)
{
	uint8_t proof[CONSISTENCY_MOST][32];
	size_t count;

	(void)state;
	for (uint64_t size = 2; size <= 70; size++) {
		begin(0, size);
		for (uint64_t old = 1; old < size; old++) {
			assert_true(history_prove(&history, old, size, proof, &count));
			for (size_t i = 0; i < count; i++) {
				proof[i][(old + size) % 32] ^= (uint8_t)(1 << i % 8);
				assert_false(holds(old, size, proof, count));
				proof[i][(old + size) % 32] ^= (uint8_t)(1 << i % 8);
			}
			assert_false(holds(old, size, proof, count - 1));
			memcpy(proof[count], proof[0], 32);
			assert_false(holds(old, size, proof, count + 1));
			assert_false(consistency_holds(old, roots[old + 1], size, roots[size], (const uint8_t (*)[32])proof, count));
			assert_false(consistency_holds(old, roots[old], size, roots[size - 1], (const uint8_t (*)[32])proof, count));
		}
	}
}

static void
nothing_and_the_same_size_need_no_proof_and_have_none(void **state)
{
	uint8_t proof[1][32] = { { 0 } };

	(void)state;
	assert_true(holds(0, 5, proof, 0));
	assert_false(holds(0, 5, proof, 1));
	assert_true(holds(5, 5, proof, 0));
	assert_false(holds(5, 5, proof, 1));
	assert_false(consistency_holds(5, roots[4], 5, roots[5], (const uint8_t (*)[32])proof, 0));
	assert_false(holds(6, 5, proof, 0));
}

/* Old blocks, the newest leaves, and where both meet. */
static void
a_long_history_proves_every_kind_of_size(void **state)
{
	static const uint64_t olds[] = { 1, 2, 255, 256, 257, 300, 511, 512, 1023, 1024, 4095, 4096, 4097, 4903, 4904,
		4905, 5000, 8191, 8192, 8193, 8448, 8960, 8999, 9000 };
	static const uint64_t sizes[] = { 9000, 8999, 8993, 8961, 8960, 8192, 4097 };
	uint8_t proof[CONSISTENCY_MOST][32];
	size_t count;

	(void)state;
	begin(0, LONG);
	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
		for (size_t i = 0; i < sizeof(olds) / sizeof(olds[0]) && olds[i] <= sizes[s]; i++) {
			assert_true(history_prove(&history, olds[i], sizes[s], proof, &count));
			assert_true(holds(olds[i], sizes[s], proof, count));
		}
	assert_true(reads > 0);
	assert_false(history_prove(&history, 0, 5, proof, &count));
	assert_false(history_prove(&history, 5, LONG + 1, proof, &count));
	assert_false(history_prove(&history, 6, 5, proof, &count));
}

static void
the_newest_leaves_are_not_read_again(void **state)
{
	uint8_t proof[CONSISTENCY_MOST][32];
	size_t count;

	(void)state;
	begin(0, LONG);
	for (uint64_t old = LONG - HISTORY_LEAVES + HISTORY_BLOCK; old <= LONG; old += 7)
		assert_true(history_prove(&history, old, LONG, proof, &count));
	assert_int_equal(reads, 0);
}

static void
what_was_removed_is_proven_by_its_anchor(void **state)
{
	static const uint64_t cuts[] = { 1, 255, 256, 257, 1000, 1024, 4096, 4999, 8191, 8990 };
	uint8_t proof[CONSISTENCY_MOST][32];
	size_t count;

	(void)state;
	for (size_t c = 0; c < sizeof(cuts) / sizeof(cuts[0]); c++) {
		begin(cuts[c], LONG);
		for (uint64_t old = cuts[c]; old <= LONG; old += old - cuts[c] < 300 ? 1 : 211) {
			assert_true(history_prove(&history, old, LONG, proof, &count));
			assert_true(holds(old, LONG, proof, count));
		}
	}
	/* Before the cut only what the anchor's peaks allow. */
	begin(1000, LONG);
	assert_false(history_prove(&history, 999, LONG, proof, &count));
	assert_true(history_prove(&history, 512, LONG, proof, &count));
	assert_true(holds(512, LONG, proof, count));
}

static void
what_cannot_be_read_is_not_proven(void **state)
{
	uint8_t proof[CONSISTENCY_MOST][32];
	size_t count;

	(void)state;
	begin(0, LONG);
	history.read = NULL;
	assert_false(history_prove(&history, 301, LONG, proof, &count));
	assert_true(history_prove(&history, 512, LONG, proof, &count));
	assert_true(history_prove(&history, 8999, LONG, proof, &count));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_proof_of_130_sizes_is_as_the_rfc_has_it),
		cmocka_unit_test(a_proof_holds_for_its_two_sizes_and_no_others),
		cmocka_unit_test(no_bit_of_a_proof_can_be_another_and_no_hash_be_missing_or_too_many),
		cmocka_unit_test(nothing_and_the_same_size_need_no_proof_and_have_none),
		cmocka_unit_test(a_long_history_proves_every_kind_of_size),
		cmocka_unit_test(the_newest_leaves_are_not_read_again),
		cmocka_unit_test(what_was_removed_is_proven_by_its_anchor),
		cmocka_unit_test(what_cannot_be_read_is_not_proven),
	};

	return cmocka_run_group_tests(tests, make_leaves, NULL);
}
