#ifndef LETTERS_H
#define LETTERS_H

/*
 * The tables `outbox` (records on their way to the auditor) and `meta` (how far they got).
 * Delivery is outbox.c's.
 */
#include <stdbool.h>
#include <stdint.h>

#include "bytes.h"
#include "store.h"

struct letters_state {
	uint64_t next_sn;
	uint64_t acked_sn; /* UINT64_MAX: none */
	uint64_t acked_seq;
	uint8_t acked_hash[32];
	bool held; /* the whole queue */
	int64_t hook_sn;      /* the newest record that the hooks have been told, -1: none */
	int64_t hook_skipped; /* events that they never were */
	struct bytes policy_sha256; /* of the newest policy.loaded, empty: none */
};

struct letter {
	uint64_t sn;
	char *type;
	struct bytes d;
	bool seal;
	int64_t job; /* jobs.seq, 0: about no job */
	int64_t created_us; /* when it is read */
};

void letters_state(struct store *store, struct letters_state *state);
void letters_set_held(struct store *store, bool held);
void letters_set_hooks(struct store *store, int64_t sn, int64_t skipped);
void letters_set_policy(struct store *store, const uint8_t sha256[32]);
void letters_forget_policy(struct store *store);

/* Inside a transaction: a record with this number, which must be the next one. */
void letters_add(struct store *store, const struct letter *letter, uint64_t now_us);

/* The first with this number or a later one; false: there is none.  Free it with letters_free(). */
uint64_t letters_first(struct store *store); /* number of the oldest that is kept; 0: none */
bool letters_from(struct store *store, uint64_t sn, struct letter *letter);
uint64_t letters_newest_us(struct store *store); /* when the newest of them was made; 0: none */
void letters_free(struct letter *letter);

/* Inside a transaction: forget what the auditor has not acknowledged; how many records that was. */
int64_t letters_drop_unsent(struct store *store);

/* Inside a transaction: the auditor has it at seq. */
void letters_acked(struct store *store, uint64_t sn, uint64_t seq);
void letters_set_acked(struct store *store, uint64_t sn, uint64_t seq, const uint8_t hash[32]);

/* Acknowledged ones are kept for a while, so that a log that lost its tail can be healed. */
void letters_forget(struct store *store, uint64_t before_us);

#endif
