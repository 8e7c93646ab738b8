/* The table `needs`. */
#include <string.h>

#include "needs.h"

void
needs_add(struct store *store, int64_t job, int64_t on_job, enum order_want want)
{
	struct query *query = store_query(store, STATEMENT_NEED_ADD);

	store_put_integer(query, job);
	store_put_integer(query, on_job);
	store_put_integer(query, want);
	store_run(query);
}

void
needs_meet(struct store *store, int64_t job, int64_t on_job)
{
	struct query *query = store_query(store, STATEMENT_NEED_MET);

	store_put_integer(query, job);
	store_put_integer(query, on_job);
	store_run(query);
}

void
needs_in_vain(struct store *store, int64_t job, int64_t on_job)
{
	struct query *query = store_query(store, STATEMENT_NEED_VAIN);

	store_put_integer(query, job);
	store_put_integer(query, on_job);
	store_run(query);
}

void
needs_forget(struct store *store, int64_t job)
{
	struct query *query = store_query(store, STATEMENT_NEED_FORGET);

	store_put_integer(query, job);
	store_run(query);
}

bool
needs_next_on(struct store *store, int64_t on_job, int64_t *job, enum order_want *want)
{
	struct query *query = store_query(store, STATEMENT_NEED_ON);
	bool found;

	store_put_integer(query, on_job);
	found = store_step(query);
	if (found) {
		*job = store_integer(query);
		*want = (enum order_want)store_integer(query); /* 1 to 3 by the schema */
	}
	store_done(query);
	return found;
}

void
needs_each(struct store *store, int64_t job,
    void (*visit)(void *context, const struct need *need), void *context)
{
	struct query *query = store_query(store, STATEMENT_NEED_OF);

	store_put_integer(query, job);
	while (store_step(query)) {
		struct bytes id = store_bytes(query);
		struct need need = { .want = (enum order_want)store_integer(query) };

		need.met = store_integer(query) != 0;
		memcpy(need.id, id.at, sizeof(need.id)); /* 16 by the schema */
		bytes_free(&id);
		visit(context, &need);
	}
	store_done(query);
}
