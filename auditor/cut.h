#ifndef CUT_H
#define CUT_H

/*
 * Where the beginning of a log was removed, and what still tells of it (agent-safe-audit(7)): the record
 * log.prune, and the last line of anchors.jsonl.  Pure, fuzzed.
 *
 *   {"anchor":1,"seq":DEC,"prev":"HEX","sn":[DEC,DEC,DEC],"unsealed":DEC,"peaks":["B64",...]}LF
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record.h"
#include "tree.h"

#define CUT_ANCHOR 4096 /* 64 peaks and the rest */
#define CUT_BODY 512

struct cut {
	uint64_t seq;                /* of the first line that stays; 0: nothing was removed */
	uint8_t head[32];            /* SHA-256 of the line before it */
	uint8_t root[32];            /* over the lines before it */
	uint64_t seals;              /* among them */
	uint64_t sn[RECORD_SOURCES]; /* of each source's next line */
};

/* d of log.prune.  from: the first seq that was there; segments: how many may be removed. */
size_t cut_body(char body[CUT_BODY], const struct cut *cut, uint64_t from, uint64_t segments);
bool cut_read_body(const char *body, size_t length, struct cut *cut, uint64_t *from);

bool cut_same(const struct cut *one, const struct cut *other);

/* The anchor line.  unsealed: lines behind the last seal; tree: over the lines before cut->seq. */
size_t cut_anchor(char line[CUT_ANCHOR], const struct cut *cut, uint64_t unsealed, const struct tree *tree);

/* Fills root from the peaks; seals is the reader's to know. */
bool cut_read_anchor(const char *line, size_t length, struct cut *cut, uint64_t *unsealed, struct tree *tree);

#endif
