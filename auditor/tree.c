/* The Merkle tree of RFC 6962 as a compact range. */
#include <string.h>

#include "digest.h"

#include "tree.h"

void
tree_node(uint8_t out[32], const uint8_t left[32], const uint8_t right[32])
{
	uint8_t bytes[65] = { 0x01 };

	memcpy(bytes + 1, left, 32);
	memcpy(bytes + 33, right, 32);
	digest_take(out, bytes, sizeof(bytes));
}

void
tree_leaf(uint8_t leaf[32], const void *bytes, size_t length)
{
	struct digest_state state;

	digest_begin(&state);
	digest_add(&state, "\0", 1);
	digest_add(&state, bytes, length);
	digest_end(&state, leaf);
}

void
tree_add(struct tree *tree, const void *bytes, size_t length)
{
	uint8_t leaf[32];

	tree_leaf(leaf, bytes, length);
	tree_add_leaf(tree, leaf);
}

void
tree_add_leaf(struct tree *tree, const uint8_t leaf[32])
{
	unsigned count = (unsigned)__builtin_popcountll(tree->size);

	memcpy(tree->last, leaf, 32);
	memcpy(tree->peaks[count], leaf, 32);
	/* Each trailing one of the old size is a full subtree that the new leaf completes. */
	for (uint64_t size = tree->size; size & 1; size >>= 1, count--)
		tree_node(tree->peaks[count - 1], tree->peaks[count - 1], tree->peaks[count]);
	tree->size++;
}

void
tree_root(const struct tree *tree, uint8_t root[32])
{
	unsigned count = (unsigned)__builtin_popcountll(tree->size);

	if (count == 0) {
		digest_take(root, "", 0);
		return;
	}
	memcpy(root, tree->peaks[--count], 32);
	while (count > 0)
		tree_node(root, tree->peaks[--count], root);
}
