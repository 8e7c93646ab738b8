#ifndef TARGETS_H
#define TARGETS_H

/*
 * Who gets the log's checkpoints: the export command and the witnesses, each with what it has
 * taken, what it is asked now, and when it may be asked again.  Decides; no I/O.
 */
#include <stdbool.h>

#include "boot.h"
#include "checkpoint.h"
#include "payloads.h"
#include "seals.h"

#define TARGETS (1 + LIMIT_WITNESSES)
#define TARGETS_RECORD_US 60000000u /* a cosignature that no run rests on is recorded this often */

struct target {
	bool exists, busy;
	uint64_t errand;             /* the last one */
	uint64_t asked;              /* size of the checkpoint it was given last */
	char text[CHAIN_SEAL_TEXT];  /* what that has signed */
	uint64_t old;                /* witness: what it is believed to have cosigned */
	uint64_t taken;              /* size that it has taken: exported, or cosigned by its key */
	uint64_t next_us;            /* CLOCK_MONOTONIC: not before */
	uint64_t hasty_us;           /* the same when a run waits for it */
	unsigned failures;           /* in a row */

	uint32_t state;              /* enum witness_state */
	uint64_t since_us;           /* wall clock */
	uint32_t carried;
	int32_t detail;
	bool told;                   /* the broker knows all this */
	uint64_t told_us;

	/* witness: its newest cosignature that is not on record */
	bool has_cosignature;
	struct vkey vkey;
	uint8_t cosignature[CHECKPOINT_COSIGNATURE];
	uint64_t recorded_us;        /* CLOCK_MONOTONIC: when one was, 0: never */
};

struct targets {
	struct target list[TARGETS];
	unsigned quorum;
	bool news;                   /* lines since the last checkpoint that was wanted, but seals and cosignatures */
	uint64_t wanted;             /* size of the newest checkpoint that is to go out; 0: none */
	uint64_t wanted_us;          /* CLOCK_MONOTONIC */
};

/* Ends the process when a key of the boot record is none. */
void targets_open(struct targets *targets, const struct boot_audit *audit);

/* A line of the log, old or new. */
void targets_note(struct targets *targets, const struct record *record);

/* The head is a seal now: is it to go out?  Only with news in it, or once a heartbeat. */
void targets_want(struct targets *targets, const struct seal *newest, uint64_t now_us);

/* May this one be given the newest checkpoint now?  hasty: a run waits. */
bool targets_is_due(const struct targets *targets, unsigned index, bool hasty, uint64_t now_us);

/* When to look again, CLOCK_MONOTONIC; UINT64_MAX: not before something happens. */
uint64_t targets_deadline(const struct targets *targets, bool hasty);

/* What the command has answered; output: its standard output.  newest: size of the newest seal. */
void targets_take(struct targets *targets, unsigned index, const struct msg_checkpoint_carried *carried,
    const char *output, size_t length, uint64_t newest);

/* No proof can be made from where it stands. */
void targets_fail(struct targets *targets, unsigned index, uint32_t state);

/* There is no courier any more. */
void targets_lose(struct targets *targets);

/* Has a quorum cosigned more than the line `seq`? */
bool targets_have_quorum(const struct targets *targets, uint64_t seq);

#endif
