#ifndef CHAIN_H
#define CHAIN_H

/*
 * The rules from one line of the log to the next (agent-safe-audit(7)): sequence, hash of the line
 * before, counters per source, tree, seals, segments.  The auditor passes every line through here
 * before it writes it, recovery and the verifier when they read it.  No I/O.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "limits.h"

#include "cut.h"
#include "record.h"
#include "rekey.h"
#include "tree.h"

#define CHAIN_UNSEALED_MAX 256 /* lines without a seal among them; one more is an error */
#define CHAIN_HEARTBEAT_SECONDS 900 /* a living log is sealed at least this often */
#define CHAIN_SEAL_TEXT (LIMIT_ORIGIN + 512)
#define CHAIN_NAME 34 /* "seg-<20 digits>.jsonl" and a NUL */

/* What the first line of the next segment must say of the segment before it. */
struct chain_joint {
	bool removed;            /* the segment before is not there to be compared with */
	uint64_t first_seq;      /* of the segment before; its name */
	uint64_t torn;           /* bytes behind its last good line */
	uint8_t torn_sha256[32]; /* of those bytes, when there are any */
};

struct chain {
	char origin[LIMIT_ORIGIN]; /* given, or believed from the genesis line */
	uint8_t genesis_key[32];
	bool origin_known, key_known; /* given by someone trusted */
	uint8_t operator_key[32];     /* that a log.rekey is checked with */
	bool operator_known;          /* given by someone trusted */

	uint64_t next_seq;
	uint8_t head[32];               /* SHA-256 of the last line; zeros before the first */
	struct tree tree;
	uint64_t next_sn[RECORD_SOURCES];

	uint64_t next_seal;
	uint8_t key[32];                /* public key of the next seal */
	uint64_t unsealed;              /* lines since the last seal */
	uint8_t root[32];               /* signed by the last seal */
	char sealed[RECORD_TIME];       /* t of the last seal; empty: none */

	bool at_joint;                  /* the next line must be the log.segment that joint tells */
	struct chain_joint joint;
	struct tree joint_tree;         /* before the first line of the segment in progress */
	uint8_t joint_head[32];         /* SHA-256 of the line before that */

	uint64_t rekeys;                /* how often an operator has given the log a new key */
	uint64_t unproven_seq;          /* of the first log.rekey that no operator's key was there to check; 0: none */

	struct cut cut;                 /* where the log begins, when what came before was removed */
	bool cut_told;                  /* a log.prune tells the same */
};

/* origin and key: 32 bytes; NULL: believe the log's own. */
void chain_begin(struct chain *chain, const char *origin, const uint8_t *key);

/* A new segment begins with the next line. */
void chain_join(struct chain *chain, const struct chain_joint *joint);

/*
 * Take the next line with its newline.  NULL and *record filled (its body points into line), or
 * what is wrong: then the chain is unchanged, but for *record.
 */
const char *chain_take(struct chain *chain, const char *line, size_t length, struct record *record);

/* Has this operator signed it? */
bool chain_is_signed(const struct rekey *rekey, const char *origin, const uint8_t operator_key[32]);

/* A line that stays in anchors.jsonl and goes into proofs: the keys hang on it. */
bool chain_is_anchor(const struct record *record);

/* "seg-00000000000000000010.jsonl". */
void chain_segment_name(char name[CHAIN_NAME], uint64_t first_seq);

/* d of log.genesis and log.segment. */
size_t chain_genesis_body(char *body, size_t size, const char *origin, const uint8_t key[32]);
size_t chain_segment_body(char *body, size_t size, const struct chain_joint *joint);

/*
 * The next line of anchors.jsonl, with its newline: the genesis line, then every seal and log.rekey of
 * the lines that were removed.  Their signatures are checked, from key to key; what lay between them is
 * gone, and so is what proved the seals' own sn.  NULL, or what is wrong.
 */
const char *chain_take_anchor(struct chain *chain, const char *line, size_t length, struct record *record);

/* Its last line (cut.h): the log goes on here, and the next line is the first of a segment. */
const char *chain_begin_at(struct chain *chain, const char *line, size_t length);

/* What lies before `record`, which was just taken and is the first of its segment. */
struct cut chain_cut_before(const struct chain *chain, const struct record *record);

/*
 * The text that the next seal signs (agent-safe-audit(7)), for a seal line with that t and that next key.
 * Its length.
 */
size_t chain_seal_text(const struct chain *chain, const char *time, const uint8_t next_key[32],
    char text[CHAIN_SEAL_TEXT]);

/* d of the next seal. */
size_t chain_seal_body(const struct chain *chain, char *body, size_t size, const uint8_t next_key[32],
    const uint8_t signature[64]);

#endif
