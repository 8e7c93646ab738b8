#ifndef TREE_H
#define TREE_H

/*
 * The Merkle tree of RFC 6962 section 2.1 over the lines of the log, kept as a compact range:
 * one hash for each full subtree of the left edge, at most 64.
 */
#include <stddef.h>
#include <stdint.h>

struct tree {
	uint64_t size;          /* leaves so far */
	uint8_t last[32];       /* the newest leaf, for who keeps more than this */
	uint8_t peaks[64][32];  /* the first popcount(size) are in use, largest subtree first */
};

/* Leaf: SHA-256(0x00 || bytes). */
void tree_leaf(uint8_t leaf[32], const void *bytes, size_t length);
void tree_add(struct tree *tree, const void *bytes, size_t length);
void tree_add_leaf(struct tree *tree, const uint8_t leaf[32]);

/* Node: SHA-256(0x01 || left || right). */
void tree_node(uint8_t node[32], const uint8_t left[32], const uint8_t right[32]);

/* Root over all leaves; of none: SHA-256 of nothing. */
void tree_root(const struct tree *tree, uint8_t root[32]);

#endif
