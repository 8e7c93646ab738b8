#ifndef ATTEMPTS_H
#define ATTEMPTS_H

/* The tables `attempts` (a row per run of a job) and `decisions` (a row per approval, denial, ...). */
#include <stdbool.h>
#include <stdint.h>

#include "bytes.h"
#include "columns.h"
#include "store.h"

struct attempt {
	ATTEMPT_COLUMNS(COLUMN_MEMBER)
};

void attempts_add(struct store *store, const struct attempt *attempt);
void attempts_change(struct store *store, const struct attempt *attempt);

/* False: there is none.  attempt is filled (free it) or zeroed. */
bool attempts_one(struct store *store, int64_t job, int64_t number, struct attempt *attempt);

/* All of one job, in order; visit() must not keep what it gets. */
void attempts_each(struct store *store, int64_t job,
    void (*visit)(void *context, const struct attempt *attempt), void *context);
void attempts_free(struct attempt *attempt);

struct decision {
	int64_t at_us;
	const char *decision;  /* "approved", "denied", "expired", "stale" */
	const char *by;        /* the label that was given, or NULL */
	int64_t uid;           /* of the peer, -1: nobody */
	const char *reason;    /* or NULL */
	struct bytes digest;   /* of the plan it was about, empty: none */
	const char *changes;   /* JSON array of texts: what made it stale, or NULL */
};

void attempts_decided(struct store *store, int64_t job, const struct decision *decision);
void attempts_each_decision(struct store *store, int64_t job,
    void (*visit)(void *context, const struct decision *decision), void *context);

#endif
