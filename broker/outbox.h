#ifndef OUTBOX_H
#define OUTBOX_H

/*
 * Records on their way to the auditor.  A record is added in the transaction that changes the
 * state, sent after the commit, in order, and again after a restart until it is acknowledged.
 * What a record announces (a dispatch, a cancel, an answer to a client) is done only after that.
 */
#include <stdbool.h>
#include <stdint.h>

#include "channel.h"
#include "json.h"
#include "limits.h"

#include "letters.h"
#include "store.h"

#define OUTBOX_WINDOW 32              /* records sent and not yet settled */
#define OUTBOX_AGAIN_US 5000000       /* after REFUSAL_FULL: is there space now? */
#define OUTBOX_KEEP_US 604800000000ll /* acknowledged records: 7 days */

struct outbox {
	struct store *store;
	const struct channel *auditor;
	uint64_t next_sn;      /* of the next record */
	uint64_t opened_sn;    /* the same when the store was opened: what is added before the welcome tells nothing */
	uint64_t unsent_sn;    /* the first that has not been sent since the last refusal */
	uint64_t acked_sn;     /* UINT64_MAX: none */
	uint64_t acked_seq;
	uint8_t acked_hash[32];
	uint64_t settled_sn;   /* acknowledged and noted in the store; UINT64_MAX: none */
	uint64_t
	    seqs[OUTBOX_WINDOW]; /* where the log has them: acknowledged, not yet settled, by sn */
	char resync_by[LIMIT_BY_BYTES + 1]; /* "": an older database is refused */
	bool open;             /* the auditor has welcomed us */
	bool degraded;         /* its filesystem may keep keys that were erased */
	uint32_t refusal;      /* enum record_refusal, 0: none; no new work meanwhile */
	uint64_t again_us;     /* monotonic: when to try again, 0: never */
	uint64_t low_until_us; /* monotonic: space for the log was low; until then it is believed, 0: no */
};

void outbox_open(struct outbox *outbox, struct store *store, const struct channel *auditor);

/* Say what we know of the log; the auditor answers BROKER_WELCOME. */
void outbox_hello(const struct outbox *outbox);

/*
 * The operator has put an older database back and knows it (db resync): the welcome may find the
 * log ahead, and we go on behind it.  by: who, at most LIMIT_BY_BYTES.
 */
void outbox_allow_resync(struct outbox *outbox, const char *by);

/*
 * Compare its answer with what we know, and send what it lacks.  Ends the process when the log
 * lost records that it had acknowledged, or when our database is older than the log.
 */
void outbox_welcome(struct outbox *outbox, const struct msg_broker_welcome *welcome);

/*
 * Inside a transaction: one record about a job (jobs.seq; 0: none).  Takes d.  Returns its number.
 * The transaction must be committed with outbox_commit().
 */
uint64_t outbox_add(struct outbox *outbox, const char *type, struct json *d, bool seal,
    int64_t job);
void outbox_commit(struct outbox *outbox);

/* What store_gather() has joined is committed, and its records leave. */
void outbox_gathered(struct outbox *outbox);

void outbox_synced(struct outbox *outbox, const struct msg_record_synced *synced);
void outbox_refused(struct outbox *outbox, const struct msg_record_refused *refused);

/*
 * Note in the store what was acknowledged since the last call, then call visit() with each of
 * these records, in order.
 */
void outbox_settle(struct outbox *outbox, void (*visit)(void *context, const struct letter *letter),
    void *context);

/* Is this record, and all before it, durable in log and store? */
bool outbox_is_settled(const struct outbox *outbox, uint64_t sn);

/* May new work be taken?  False after a refusal; *why says which. */
bool outbox_accepts(const struct outbox *outbox, const char **why);

/*
 * May a job be proposed?  False also while space for the log is low, before anything is refused: what
 * is left belongs to the jobs that are there.  Now and then one proposal finds out whether it still is.
 */
bool outbox_takes_jobs(const struct outbox *outbox, const char **why);

/* Try again when it is time; the next moment to call this (monotonic us), 0: none. */
uint64_t outbox_tick(struct outbox *outbox);

/* Forget old acknowledged records. */
void outbox_forget(struct outbox *outbox);

#endif
