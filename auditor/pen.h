#ifndef PEN_H
#define PEN_H

/*
 * The only pen of the log: lines are gathered, each checked with the verifier's own code, sealed
 * when it is time, and written in one commit.  A commit that fails ends the process.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "limits.h"

#include "chain.h"
#include "journal.h"
#include "sign.h"

#define PEN_BYTES ((1u << 20) + 8 * LIMIT_RECORD_BYTES) /* 1 MiB of a batch and what it entails */
/* Lines without a seal.  Six are left: two more of the round's last messages, the auditor's own, the seal. */
#define PEN_LINES (CHAIN_UNSEALED_MAX - 6)
#define PEN_SEAL_US 1000000u               /* after the first line without one */

struct pen {
	struct chain chain;
	struct sign sign;
	struct journal journal;
	int log_fd;
	/* Called for each line, as by the walk; a text that is not NULL ends the process. */
	const char *(*each)(void *context, const struct chain *chain, const struct record *record);
	void *context;

	bool seal_wanted;
	bool fresh;            /* what is gathered begins a new segment */
	bool low;              /* space is low, and on record */
	uint64_t unsealed_us;  /* CLOCK_MONOTONIC at the first line without a seal */
	uint64_t sealed_us;    /* at the last seal, or at the start */

	size_t length;
	char bytes[PEN_BYTES];
};

/*
 * Add a line.  NULL with its seq and hash (both may be NULL), or why it cannot be a line: only
 * what comes from outside may be wrong, see pen_note().
 */
const char *pen_write(struct pen *pen, enum record_source source, const char *type, const char *body,
    size_t length, uint64_t *seq, uint8_t hash[32]);

/* Add a line of the auditor's own; it is sealed in this commit. */
void pen_note(struct pen *pen, const char *type, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* False: commit before the next message. */
bool pen_has_room(const struct pen *pen);

/* Seal if it is time, write, sync, turn the key.  True: the head is a seal now made. */
bool pen_commit(struct pen *pen);

/*
 * Only write, for lines that nobody waits for: they survive this process, and are durable with the
 * next pen_commit(), which pen_deadline() has come within a second.
 */
void pen_write_out(struct pen *pen);

/* CLOCK_MONOTONIC in us when pen_commit() is due though nothing came. */
uint64_t pen_deadline(const struct pen *pen);

/* Begin a segment behind this one; it exists after pen_commit(). */
void pen_begin_segment(struct pen *pen, const struct chain_joint *joint);

/*
 * Commit, and begin the next segment.  False: there is no space for one, and nothing was done but
 * the commit.
 */
bool pen_rotate(struct pen *pen);

/* Between commits: rotate a segment that is large or of yesterday, look for space, put a change of it on record. */
void pen_tend(struct pen *pen);

/* Was the last seal made on this day (UTC), or on a later one by a clock that was put back? */
bool pen_is_of_today(const struct chain *chain);

void pen_close(struct pen *pen);

#endif
