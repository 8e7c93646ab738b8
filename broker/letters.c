/* The tables `outbox` and `meta`. */
#include <stdlib.h>
#include <string.h>

#include "log.h"

#include "letters.h"

void
letters_state(struct store *store, struct letters_state *state)
{
	struct query *query = store_query(store, STATEMENT_META_READ);
	struct bytes hash;

	if (!store_step(query))
		fatal("store: no meta");
	state->next_sn = (uint64_t)store_integer(query);
	state->acked_sn = (uint64_t)store_integer(query); /* -1 reads as UINT64_MAX */
	state->acked_seq = (uint64_t)store_integer(query);
	hash = store_bytes(query);
	memcpy(state->acked_hash, hash.at, sizeof(state->acked_hash)); /* 32 by the schema */
	bytes_free(&hash);
	state->policy_sha256 = store_bytes(query);
	state->held = store_integer(query) != 0;
	state->hook_sn = store_integer(query);
	state->hook_skipped = store_integer(query);
	store_done(query);
}

void
letters_set_held(struct store *store, bool held)
{
	struct query *query = store_query(store, STATEMENT_META_HELD);

	store_put_integer(query, held);
	store_run(query);
}

void
letters_set_hooks(struct store *store, int64_t sn, int64_t skipped)
{
	struct query *query = store_query(store, STATEMENT_META_HOOKS);

	store_put_integer(query, sn);
	store_put_integer(query, skipped);
	store_run(query);
}

void
letters_set_policy(struct store *store, const uint8_t sha256[32])
{
	struct query *query = store_query(store, STATEMENT_META_POLICY);

	store_put_bytes(query, sha256, 32);
	store_run(query);
}

void
letters_forget_policy(struct store *store)
{
	struct query *query = store_query(store, STATEMENT_META_POLICY);

	store_put_bytes(query, "", 0);
	store_run(query);
}

void
letters_add(struct store *store, const struct letter *letter, uint64_t now_us)
{
	struct query *query = store_query(store, STATEMENT_OUTBOX_ADD);

	store_put_integer(query, (int64_t)letter->sn);
	store_put_text(query, letter->type);
	store_put_bytes(query, letter->d.at, letter->d.length);
	store_put_integer(query, letter->seal);
	store_put_integer(query, letter->job);
	store_put_integer(query, (int64_t)now_us);
	store_run(query);
	query = store_query(store, STATEMENT_META_NEXT);
	store_put_integer(query, (int64_t)letter->sn + 1);
	store_run(query);
}

bool
letters_from(struct store *store, uint64_t sn, struct letter *letter)
{
	struct query *query = store_query(store, STATEMENT_OUTBOX_FROM);
	bool found;

	memset(letter, 0, sizeof(*letter));
	store_put_integer(query, (int64_t)sn);
	found = store_step(query);
	if (found) {
		letter->sn = (uint64_t)store_integer(query);
		letter->type = store_text(query);
		letter->d = store_bytes(query);
		letter->seal = store_integer(query) != 0;
		letter->job = store_integer(query);
		letter->created_us = store_integer(query);
	}
	store_done(query);
	return found;
}

uint64_t
letters_first(struct store *store)
{
	struct letter letter;
	uint64_t sn = letters_from(store, 0, &letter) ? letter.sn : 0;

	letters_free(&letter);
	return sn;
}

uint64_t
letters_newest_us(struct store *store)
{
	struct query *query = store_query(store, STATEMENT_OUTBOX_NEWEST);
	uint64_t newest = store_step(query) ? (uint64_t)store_integer(query) : 0; /* NULL reads as 0 */

	store_done(query);
	return newest;
}

void
letters_free(struct letter *letter)
{
	free(letter->type);
	bytes_free(&letter->d);
	memset(letter, 0, sizeof(*letter));
}

int64_t
letters_drop_unsent(struct store *store)
{
	return store_run(store_query(store, STATEMENT_OUTBOX_DROP));
}

void
letters_acked(struct store *store, uint64_t sn, uint64_t seq)
{
	struct query *query = store_query(store, STATEMENT_OUTBOX_ACKED);

	store_put_integer(query, (int64_t)seq);
	store_put_integer(query, (int64_t)sn);
	store_run(query);
}

void
letters_set_acked(struct store *store, uint64_t sn, uint64_t seq, const uint8_t hash[32])
{
	struct query *query = store_query(store, STATEMENT_META_ACKED);

	store_put_integer(query, (int64_t)sn);
	store_put_integer(query, (int64_t)seq);
	store_put_bytes(query, hash, 32);
	store_run(query);
}

void
letters_forget(struct store *store, uint64_t before_us)
{
	struct query *query = store_query(store, STATEMENT_OUTBOX_FORGET);

	store_put_integer(query, (int64_t)before_us);
	store_run(query);
}
