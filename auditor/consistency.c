/* Consistency proofs of RFC 6962. */
#include <string.h>

#include "consistency.h"
#include "tree.h"

/* --- checking ------------------------------------------------------------------- */

static bool
is_power_of_two(uint64_t number)
{
	return (number & (number - 1)) == 0;
}

/* Where the path of a proof stands: nodes of both trees at one level, and the two hashes so far. */
struct climb {
	uint64_t first, second;
	uint8_t old[32], fresh[32];
};

static void
up(struct climb *climb)
{
	climb->first >>= 1;
	climb->second >>= 1;
}

/* One hash of the proof; false: the path is at its end already. */
static bool
step(struct climb *climb, const uint8_t hash[32])
{
	if (climb->second == 0)
		return false;
	if ((climb->first & 1) || climb->first == climb->second) {
		tree_node(climb->old, hash, climb->old);
		tree_node(climb->fresh, hash, climb->fresh);
		while (climb->first != 0 && !(climb->first & 1))
			up(climb);
	} else
		tree_node(climb->fresh, climb->fresh, hash);
	up(climb);
	return true;
}

bool
consistency_holds(uint64_t old, const uint8_t old_root[32], uint64_t size, const uint8_t root[32],
    const uint8_t (*proof)[32], size_t count)
{
	struct climb climb = { .first = old - 1, .second = size - 1 };
	size_t at = 0;

	if (old == 0)
		return count == 0;
	if (old >= size)
		return old == size && count == 0 && memcmp(old_root, root, 32) == 0;
	/* A full tree is its own first hash: the proof leaves it out. */
	if (!is_power_of_two(old) && count == 0)
		return false;
	memcpy(climb.old, is_power_of_two(old) ? old_root : proof[at++], 32);
	memcpy(climb.fresh, climb.old, 32);
	while (climb.first & 1)
		up(&climb);
	for (; at < count; at++)
		if (!step(&climb, proof[at]))
			return false;
	return climb.second == 0 && memcmp(climb.old, old_root, 32) == 0 && memcmp(climb.fresh, root, 32) == 0;
}

/* --- making --------------------------------------------------------------------- */

/* The hash over [from, until): from is a multiple of the largest power of two in it. */
static bool
find_range(struct consistency_nodes *nodes, uint64_t from, uint64_t until, uint8_t hash[32])
{
	uint64_t length = until - from;
	unsigned level = 63 - (unsigned)__builtin_clzll(length);
	uint8_t right[32];

	if (!nodes->find(nodes, level, from >> level, hash))
		return false;
	if (is_power_of_two(length))
		return true;
	if (!find_range(nodes, from + (UINT64_C(1) << level), until, right))
		return false;
	tree_node(hash, hash, right);
	return true;
}

bool
consistency_prove(uint64_t old, uint64_t size, struct consistency_nodes *nodes,
    uint8_t proof[CONSISTENCY_MOST][32], size_t *count)
{
	unsigned level = (unsigned)__builtin_ctzll(old);
	uint64_t index = (old - 1) >> level;

	*count = 0;
	if (old == size)
		return true;
	/* The last full subtree of the old tree, then what stands beside it and its parents. */
	if (index > 0 && !nodes->find(nodes, level, index, proof[(*count)++]))
		return false;
	for (; UINT64_C(1) << level < size; level++, index >>= 1) {
		uint64_t from = (index ^ 1) << level, until = from + (UINT64_C(1) << level);

		if (from >= size)
			continue;
		if (*count == CONSISTENCY_MOST ||
		    !find_range(nodes, from, until < size ? until : size, proof[(*count)++]))
			return false;
	}
	return true;
}
