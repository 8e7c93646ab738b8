#ifndef VERIFY_H
#define VERIFY_H

/* From segments to a verdict (agent-safe-audit(7); exit codes of the command line). */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dispatch.h"
#include "seals.h"
#include "walk.h"

#define VERIFY_NOTES 17 /* OPTIONS_NOTES and the remembered one */
#define VERIFY_WATCHES 7

/* The number is the exit status. */
enum verdict {
	VERDICT_OK = 0,
	VERDICT_UNREADABLE = 3,
	VERDICT_TAMPERED = 4,
	VERDICT_CUT = 5,        /* truncated, or forked: another log of the same key */
	VERDICT_INCOMPLETE = 6, /* or stale */
};

/* A head that somebody kept: after `size` lines the tree had this root. */
struct verify_note {
	uint64_t size;
	uint8_t root[32];
	bool met;
};

/* Who else wants to see every line that holds; a text that is not NULL makes it the first bad one. */
struct verify_watch {
	const char *(*each)(void *context, const struct chain *chain, const struct record *record);
	void *context;
};

struct verify {
	struct walk walk;
	struct dispatch dispatch;
	struct seals seals;
	struct verify_note notes[VERIFY_NOTES];
	size_t note_count;
	struct verify_watch watches[VERIFY_WATCHES];
	size_t watch_count;
	const char *challenge;    /* 64 hex digits that a log.challenge must hold, or NULL */
	bool answered;            /* it does */
	uint64_t size;            /* how many lines are looked at, and must be there; 0: all */
	uint64_t max_age_seconds; /* 0: any age will do */
	uint64_t told;            /* records of broker and executor */
	uint64_t proven;          /* records of a proof, when it is one */

	enum verdict verdict;
	const char *word;         /* "ok", "tampered", "truncated", ... */
	char reason[256];
};

/* verify: zeroed; notes, challenge, size and max_age_seconds set.  origin, key: what is trusted, or NULL. */
void verify_begin(struct verify *verify, const char *origin, const uint8_t *key);

/* The key that a log.rekey must be signed with; before the first segment. */
void verify_trust_operator(struct verify *verify, const uint8_t key[32]);

/* Before the first segment. */
void verify_watch(struct verify *verify,
    const char *(*each)(void *context, const struct chain *chain, const struct record *record), void *context);

/* anchors.jsonl, before the first segment; as verify_segment(). */
bool verify_anchors(struct verify *verify, int fd);

/* The next segment; false when it cannot be read or nothing behind it can change the verdict. */
bool verify_segment(struct verify *verify, int fd, uint64_t first_seq);

/* All segments were given: the verdict. */
void verify_end(struct verify *verify, uint64_t now_us);

/* The same for a proof: why it does not hold, or NULL. */
void verify_end_proof(struct verify *verify, const char *why);

/* All is well so far, but no quorum of witnesses has cosigned it. */
void verify_unwitnessed(struct verify *verify);

/* The log cannot be read at all. */
void verify_unreadable(struct verify *verify, const char *what);

/* Size and root, the second and third line of a checkpoint; false when text does not begin so. */
bool verify_read_note(struct verify_note *note, const char *text, size_t length);

#endif
