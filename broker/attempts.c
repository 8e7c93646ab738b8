/* The tables `attempts` and `decisions`. */
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "scope.h"

#include "attempts.h"

#define PUT_INTEGER(name) store_put_integer(query, attempt->name);
#define PUT_TEXT(name) store_put_text(query, attempt->name);
#define PUT_BYTES(name) store_put_bytes(query, attempt->name.at, attempt->name.length);
#define PUT(name, kind, check) PUT_##kind(name)

#define GET_INTEGER(name) attempt->name = store_integer(query);
#define GET_TEXT(name) attempt->name = store_text(query);
#define GET_BYTES(name) attempt->name = store_bytes(query);
#define GET(name, kind, check) GET_##kind(name)

#define FREE_INTEGER(name)
#define FREE_TEXT(name) free(attempt->name);
#define FREE_BYTES(name) bytes_free(&attempt->name);
#define FREE(name, kind, check) FREE_##kind(name)

void
attempts_add(struct store *store, const struct attempt *attempt)
{
	struct query *query = store_query(store, STATEMENT_ATTEMPT_ADD);

	ATTEMPT_COLUMNS(PUT)
	store_run(query);
}

void
attempts_change(struct store *store, const struct attempt *attempt)
{
	struct query *query = store_query(store, STATEMENT_ATTEMPT_CHANGE);

	ATTEMPT_COLUMNS(PUT)
	store_put_integer(query, attempt->job);
	store_put_integer(query, attempt->number);
	if (store_run(query) != 1)
		fatal("store: no attempt %lld of job %lld", (long long)attempt->number,
		    (long long)attempt->job);
}

static void
read_row(struct query *query, struct attempt *attempt)
{
	store_integer(query); /* seq */
	ATTEMPT_COLUMNS(GET)
}

bool
attempts_one(struct store *store, int64_t job, int64_t number, struct attempt *attempt)
{
	struct query *query = store_query(store, STATEMENT_ATTEMPT_ONE);
	bool found;

	memset(attempt, 0, sizeof(*attempt));
	store_put_integer(query, job);
	store_put_integer(query, number);
	found = store_step(query);
	if (found)
		read_row(query, attempt);
	store_done(query);
	return found;
}

void
attempts_each(struct store *store, int64_t job,
    void (*visit)(void *context, const struct attempt *attempt), void *context)
{
	struct query *query = store_query(store, STATEMENT_ATTEMPT_ALL);

	store_put_integer(query, job);
	while (store_step(query)) {
		struct attempt attempt;

		read_row(query, &attempt);
		visit(context, &attempt);
		attempts_free(&attempt);
	}
	store_done(query);
}

void
attempts_free(struct attempt *attempt)
{
	ATTEMPT_COLUMNS(FREE)
	memset(attempt, 0, sizeof(*attempt));
}

void
attempts_decided(struct store *store, int64_t job, const struct decision *decision)
{
	struct query *query = store_query(store, STATEMENT_DECISION_ADD);

	store_put_integer(query, job);
	store_put_integer(query, decision->at_us);
	store_put_text(query, decision->decision);
	store_put_text(query, decision->by);
	store_put_integer(query, decision->uid);
	store_put_text(query, decision->reason);
	store_put_bytes(query, decision->digest.at, decision->digest.length);
	store_put_text(query, decision->changes);
	store_run(query);
}

void
attempts_each_decision(struct store *store, int64_t job,
    void (*visit)(void *context, const struct decision *decision), void *context)
{
	struct query *query = store_query(store, STATEMENT_DECISION_ALL);

	store_put_integer(query, job);
	while (store_step(query)) {
		int64_t at_us = store_integer(query);
		scoped_free char *name = store_text(query);
		scoped_free char *by = store_text(query);
		int64_t uid = store_integer(query);
		scoped_free char *reason = store_text(query);
		struct bytes digest = store_bytes(query);
		scoped_free char *changes = store_text(query);
		struct decision decision = { at_us, name, by, uid, reason, digest, changes };

		visit(context, &decision);
		bytes_free(&digest);
	}
	store_done(query);
}
