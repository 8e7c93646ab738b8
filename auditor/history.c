/* Enough of the tree to prove any two of its sizes consistent. */
#include <stdlib.h>
#include <string.h>

#include "log.h"

#include "history.h"

/* --- full blocks and what is over them ------------------------------------------------ */

/*
 * They lie in the order in which they become complete: behind block j the subtrees that end with
 * it, smallest first.  Before block j there are j blocks and j - popcount(j) subtrees over them.
 */
static uint64_t
place(unsigned height, uint64_t index)
{
	uint64_t last = ((index + 1) << height) - 1;

	return 2 * last - (uint64_t)__builtin_popcountll(last) + height;
}

/* Where the hash at this place lies; NULL: no memory was given to it, or there is none for it. */
static uint8_t *
at_place(struct history *history, uint64_t at, bool make)
{
	uint8_t (**chunk)[32];

	if (at / HISTORY_CHUNK >= HISTORY_CHUNKS)
		return NULL;
	chunk = &history->chunks[at / HISTORY_CHUNK];
	if (!*chunk && make) {
		*chunk = calloc(HISTORY_CHUNK, 32);
		if (!*chunk)
			fatal("out of memory");
	}
	return *chunk ? (*chunk)[at % HISTORY_CHUNK] : NULL;
}

/* A full block, and every subtree that ends with it. */
static void
add_block(struct history *history, const uint8_t hash[32])
{
	uint64_t index = history->blocks++;
	uint8_t *to = at_place(history, place(0, index), true);

	for (unsigned height = 0; to; height++, index >>= 1) {
		const uint8_t *left;

		if (height == 0)
			memcpy(to, hash, 32);
		if (!(index & 1))
			return;
		left = at_place(history, place(height, index - 1), true);
		hash = to;
		to = at_place(history, place(height + 1, index >> 1), true);
		if (left && to)
			tree_node(to, left, hash);
	}
}

void
history_begin_at(struct history *history, const struct tree *cut)
{
	history->cut = *cut;
	history->size = cut->size;
	history->blocks = cut->size / HISTORY_BLOCK;
	history->block = (struct tree){ 0 };
	/* The block that was cut through is never whole: its leaves before the cut are unknown. */
	history->block.size = cut->size % HISTORY_BLOCK;
}

void
history_add(struct history *history, const uint8_t leaf[32])
{
	memcpy(history->leaves[history->size % HISTORY_LEAVES], leaf, 32);
	history->size++;
	tree_add_leaf(&history->block, leaf);
	if (history->block.size < HISTORY_BLOCK)
		return;
	add_block(history, history->block.peaks[0]);
	history->block = (struct tree){ 0 };
}

/* --- any full subtree -------------------------------------------------------------------- */

/* A subtree of the largest size of what was removed: its hash came with the anchor. */
static bool
find_removed(const struct history *history, unsigned level, uint64_t index, uint8_t hash[32])
{
	uint64_t size = history->cut.size, from = 0;
	unsigned peak = 0;

	for (unsigned bit = 64; bit-- > 0;) {
		if (!(size >> bit & 1))
			continue;
		if (bit == level && from == index << level) {
			memcpy(hash, history->cut.peaks[peak], 32);
			return true;
		}
		from += UINT64_C(1) << bit;
		peak++;
	}
	return false;
}

static bool
find_leaf(struct history *history, uint64_t index, uint8_t hash[32])
{
	uint64_t block = index / HISTORY_BLOCK;

	if (index >= history->size || index < history->cut.size)
		return false;
	if (history->size - index <= HISTORY_LEAVES) {
		memcpy(hash, history->leaves[index % HISTORY_LEAVES], 32);
		return true;
	}
	if (history->held != block + 1) {
		history->held = 0;
		if (!history->read || !history->read(history->context, block * HISTORY_BLOCK, history->old))
			return false;
		history->held = block + 1;
	}
	memcpy(hash, history->old[index % HISTORY_BLOCK], 32);
	return true;
}

/* A subtree over full blocks that all lie behind the cut. */
static bool
find_blocks(struct history *history, unsigned level, uint64_t index, uint8_t hash[32])
{
	unsigned height = level - HISTORY_LEVEL;
	uint64_t known = (history->cut.size + HISTORY_BLOCK - 1) / HISTORY_BLOCK;
	const uint8_t *at;

	if (level < HISTORY_LEVEL || (index + 1) << height > history->blocks || index << height < known)
		return false;
	at = at_place(history, place(height, index), false);
	if (at)
		memcpy(hash, at, 32);
	return at != NULL;
}

static bool
find(struct history *history, unsigned level, uint64_t index, uint8_t hash[32])
{
	uint8_t right[32];

	if (find_blocks(history, level, index, hash) || find_removed(history, level, index, hash))
		return true;
	/* All of it was removed, and it is no subtree of the anchor. */
	if ((index + 1) << level <= history->cut.size)
		return false;
	if (level == 0)
		return find_leaf(history, index, hash);
	if (!find(history, level - 1, 2 * index, hash) || !find(history, level - 1, 2 * index + 1, right))
		return false;
	tree_node(hash, hash, right);
	return true;
}

static bool
find_node(struct consistency_nodes *nodes, unsigned level, uint64_t index, uint8_t hash[32])
{
	return find(nodes->context, level, index, hash);
}

bool
history_prove(struct history *history, uint64_t old, uint64_t size, uint8_t proof[CONSISTENCY_MOST][32],
    size_t *count)
{
	struct consistency_nodes nodes = { find_node, history };

	return old > 0 && old <= size && size <= history->size && consistency_prove(old, size, &nodes, proof, count);
}
