#ifndef WALK_H
#define WALK_H

/*
 * Reading a log from its first byte: segments into lines, each line through chain_take().  The
 * verifier and the auditor's recovery run the same code.  Memory is constant.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "limits.h"
#include "packed.h"

#include "chain.h"

#define WALK_BUFFER (4 * LIMIT_RECORD_BYTES)

/* Where the first line that does not hold lies. */
struct walk_fault {
	const char *why;   /* NULL: none */
	uint64_t segment;  /* its first seq */
	uint64_t line;     /* from 1, in its segment */
	uint64_t offset;   /* in bytes, in its segment */
	uint64_t seq;      /* that it should have had */
	bool anchors;      /* in anchors.jsonl, not in a segment */
};

struct walk {
	struct chain chain;
	/*
	 * Called for each line that holds, chain being behind it; chain->head is its SHA-256.  For
	 * the lines of anchors.jsonl too.  A text that is not NULL is a fault.
	 */
	const char *(*each)(void *context, const struct chain *chain, const struct record *record);
	void *context;

	uint64_t limit;      /* read no more than so many lines; 0: all */
	struct walk_fault fault;

	/* The segment in progress, or the last one. */
	uint64_t segment;    /* its first seq */
	uint64_t segments;   /* how many were begun */
	uint64_t lines;      /* good lines in it */
	uint64_t good_bytes; /* up to the last good line */
	uint64_t torn;       /* bytes behind that */
	bool torn_has_lines; /* there is a newline among them */
	uint8_t torn_sha256[32];
	/* A line that failed: a fault, unless the next segment declares these bytes as torn. */
	struct walk_fault suspect;
	bool compressed;     /* the file is not plain: nothing may be appended to it */

	struct packed packed;
	char buffer[WALK_BUFFER];
};

/* walk: large, keep it static.  origin, key: as chain_begin(). */
void walk_begin(struct walk *walk, const char *origin, const uint8_t *key);

/*
 * Read anchors.jsonl, before the first segment, when the log's beginning was removed.  As
 * walk_segment().
 */
int walk_anchors(struct walk *walk, int fd);

/*
 * Read the next segment to its end, plain or compressed.  first_seq: what its name says, or UINT64_MAX when it has no
 * name.  0 (look at walk->fault), or -1 with errno when it cannot be read.  One whose lines the
 * anchors tell is passed over.
 */
int walk_segment(struct walk *walk, int fd, uint64_t first_seq);

/*
 * There are no more segments: a complete line that failed in the last one becomes the fault.
 * What has no newline stays in torn.
 */
void walk_end(struct walk *walk);

#endif
