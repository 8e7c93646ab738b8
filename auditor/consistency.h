#ifndef CONSISTENCY_H
#define CONSISTENCY_H

/*
 * Consistency proofs of RFC 6962 section 2.1.2: that the tree of the first `old` leaves is the
 * beginning of the tree of `size` leaves.  Pure.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONSISTENCY_MOST 63 /* hashes of one proof; C2SP tlog-witness allows no more */

/* Does the proof hold?  old 0: it must be empty, and any tree will do.  (RFC 9162 section 2.1.4.2.) */
bool consistency_holds(uint64_t old, const uint8_t old_root[32], uint64_t size, const uint8_t root[32],
    const uint8_t (*proof)[32], size_t count);

/*
 * The hash of the full subtree over the leaves [index << level, (index + 1) << level); false: it
 * is not known.
 */
struct consistency_nodes {
	bool (*find)(struct consistency_nodes *nodes, unsigned level, uint64_t index, uint8_t hash[32]);
	void *context;
};

/* The proof from old to size, 0 < old <= size < 2^63; false: a node is not known. */
bool consistency_prove(uint64_t old, uint64_t size, struct consistency_nodes *nodes,
    uint8_t proof[CONSISTENCY_MOST][32], size_t *count);

#endif
