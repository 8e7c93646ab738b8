#ifndef HISTORY_H
#define HISTORY_H

/*
 * Enough of the tree to prove any two of its sizes consistent (agent-safe-audit(7)): the hash of every full
 * block of 256 leaves and of the full subtrees over those, and the newest leaves.  Some 64 bytes
 * for 256 lines; the leaves of an old block are read again when they are needed.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "consistency.h"
#include "tree.h"

#define HISTORY_BLOCK 256u    /* leaves */
#define HISTORY_LEVEL 8       /* its level */
#define HISTORY_LEAVES 4096u  /* the newest ones, a multiple of a block */
#define HISTORY_CHUNK 4096u   /* hashes that are allocated at once */
#define HISTORY_CHUNKS 8192u  /* 4e9 lines; beyond, nothing is proven any more */

struct history {
	uint64_t size;         /* leaves so far */
	struct tree cut;       /* of what was removed from the log's beginning */
	struct tree block;     /* the leaves of the block in progress, from its own beginning */
	uint64_t blocks;       /* full ones */
	uint8_t (*chunks[HISTORY_CHUNKS])[32];
	uint8_t leaves[HISTORY_LEAVES][32];

	/* The leaves [seq, seq + HISTORY_BLOCK), from the log; false: they cannot be had. */
	bool (*read)(void *context, uint64_t seq, uint8_t leaves[HISTORY_BLOCK][32]);
	void *context;
	uint64_t held;         /* the block in old, and 1 */
	uint8_t old[HISTORY_BLOCK][32];
};

/* The log goes on behind these leaves; before the first history_add(). */
void history_begin_at(struct history *history, const struct tree *cut);

void history_add(struct history *history, const uint8_t leaf[32]);

/* As consistency_prove(), size being at most that of the history. */
bool history_prove(struct history *history, uint64_t old, uint64_t size, uint8_t proof[CONSISTENCY_MOST][32],
    size_t *count);

#endif
