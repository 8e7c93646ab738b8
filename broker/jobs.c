/* The table `jobs`. */
#include <stdlib.h>
#include <string.h>

#include "digest.h"
#include "log.h"

#include "jobs.h"

#define PUT_INTEGER(name) store_put_integer(query, job->name);
#define PUT_TEXT(name) store_put_text(query, job->name);
#define PUT_BYTES(name) store_put_bytes(query, job->name.at, job->name.length);
#define PUT(name, kind, check) PUT_##kind(name)
#define SKIP(name, kind, check)

#define GET_INTEGER(name) job->name = store_integer(query);
#define GET_TEXT(name) job->name = store_text(query);
#define GET_BYTES(name) job->name = store_bytes(query);
#define GET(name, kind, check) GET_##kind(name)

#define FREE_INTEGER(name)
#define FREE_TEXT(name) free(job->name);
#define FREE_BYTES(name) bytes_free(&job->name);
#define FREE(name, kind, check) FREE_##kind(name)

void
jobs_new_id(uint8_t id[16])
{
	random_bytes(id, 16);
	id[6] = (uint8_t)((id[6] & 0x0f) | 0x40); /* version 4 */
	id[8] = (uint8_t)((id[8] & 0x3f) | 0x80);
}

void
jobs_add(struct store *store, struct job *job)
{
	struct query *query = store_query(store, STATEMENT_JOB_ADD);

	JOB_COLUMNS(PUT, PUT)
	store_run(query);
	job->seq = store_last_row(store);
	job->version = 0;
}

void
jobs_change(struct store *store, struct job *job)
{
	struct query *query = store_query(store, STATEMENT_JOB_CHANGE);

	JOB_COLUMNS(SKIP, PUT)
	store_put_integer(query, job->seq);
	store_put_integer(query, job->version);
	if (store_run(query) != 1)
		fatal("store: job %lld was overtaken", (long long)job->seq);
	job->version++;
}

static void
read_row(struct query *query, struct job *job)
{
	job->seq = store_integer(query);
	job->version = store_integer(query);
	JOB_COLUMNS(GET, GET)
}

/* The first row, and be done. */
static bool
read_one(struct query *query, struct job *job)
{
	bool found = store_step(query);

	memset(job, 0, sizeof(*job));
	if (found)
		read_row(query, job);
	store_done(query);
	return found;
}

static void
read_each(struct query *query, jobs_visitor *visit, void *context)
{
	bool more = true;

	while (more && store_step(query)) {
		struct job job;

		read_row(query, &job);
		more = visit(context, &job);
		jobs_free(&job);
	}
	store_done(query);
}

bool
jobs_by_id(struct store *store, const uint8_t id[16], struct job *job)
{
	struct query *query = store_query(store, STATEMENT_JOB_BY_ID);

	store_put_bytes(query, id, 16);
	return read_one(query, job);
}

bool
jobs_by_seq(struct store *store, int64_t seq, struct job *job)
{
	struct query *query = store_query(store, STATEMENT_JOB_BY_SEQ);

	store_put_integer(query, seq);
	return read_one(query, job);
}

bool
jobs_by_key(struct store *store, int64_t uid, const char *key, bool only_unfinished,
    struct job *job)
{
	struct query *query = store_query(store, STATEMENT_JOB_BY_KEY);

	store_put_integer(query, uid);
	store_put_text(query, key);
	store_put_integer(query, only_unfinished);
	return read_one(query, job);
}

bool
jobs_next_expiry(struct store *store, struct job *job)
{
	return read_one(store_query(store, STATEMENT_JOB_EXPIRY), job);
}

bool
jobs_next_due(struct store *store, struct job *job)
{
	return read_one(store_query(store, STATEMENT_JOB_DUE), job);
}

void
jobs_each_ready(struct store *store, uint64_t now_us, int64_t acked_sn, jobs_visitor *visit,
    void *context)
{
	struct query *query = store_query(store, STATEMENT_JOB_READY);

	store_put_integer(query, (int64_t)now_us);
	store_put_integer(query, acked_sn);
	read_each(query, visit, context);
}

void
jobs_each_running(struct store *store, jobs_visitor *visit, void *context)
{
	read_each(store_query(store, STATEMENT_JOB_RUNNING), visit, context);
}

void
jobs_each_of_page(struct store *store, const struct jobs_page *page, jobs_visitor *visit,
    void *context)
{
	struct query *query = store_query(store,
	    page->newest_first ? STATEMENT_JOB_NEWEST : STATEMENT_JOB_OLDEST);

	store_put_integer(query, page->statuses);
	store_put_integer(query, page->approvals);
	store_put_text(query, page->source);
	store_put_integer(query, page->submitter);
	store_put_integer(query, page->from);
	store_put_text(query, page->label);
	store_put_integer(query, page->since_us);
	store_put_integer(query, page->until_us);
	store_put_integer(query, page->hooks);
	read_each(query, visit, context);
}

void
jobs_each_ended(struct store *store, uint32_t statuses,
    bool (*visit)(void *context, const struct jobs_ended *ended), void *context)
{
	struct query *query = store_query(store, STATEMENT_JOB_ENDED);
	bool more = true;

	store_put_integer(query, statuses);
	while (more && store_step(query)) {
		struct jobs_ended ended = { .seq = store_integer(query) };

		ended.updated_us = store_integer(query);
		ended.bytes = store_integer(query);
		more = visit(context, &ended);
	}
	store_done(query);
}

void
jobs_remove(struct store *store, int64_t seq)
{
	static const enum statement statements[] = { STATEMENT_NEED_REMOVE, STATEMENT_DECISION_REMOVE,
		STATEMENT_ATTEMPT_REMOVE, STATEMENT_JOB_REMOVE };

	for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++) {
		struct query *query = store_query(store, statements[i]);

		store_put_integer(query, seq);
		store_run(query);
	}
}

void
jobs_place(struct store *store, const struct job *job)
{
	struct query *query = store_query(store, STATEMENT_JOB_PLACE);

	store_put_integer(query, job->cwd_dev);
	store_put_integer(query, job->cwd_ino);
	store_put_integer(query, job->cwd_birth_ns);
	store_put_bytes(query, job->cwd_handle.at, job->cwd_handle.length);
	store_put_integer(query, job->seq);
	store_run(query);
}

void
jobs_resync(struct store *store)
{
	store_run(store_query(store, STATEMENT_RESYNC_HOOKS));
	store_run(store_query(store, STATEMENT_RESYNC_APPROVALS));
	store_run(store_query(store, STATEMENT_RESYNC_RUNS));
}

/* The only column of the only row; 0 when there is none. */
static int64_t
read_count(struct query *query)
{
	int64_t count = store_step(query) ? store_integer(query) : 0;

	store_done(query);
	return count;
}

struct jobs_counts
jobs_count(struct store *store)
{
	struct query *query = store_query(store, STATEMENT_JOB_COUNTS);
	struct jobs_counts counts = { 0 };
	int64_t by_status[4] = { 0 }; /* queued, running, retry_wait are 1 to 3 */

	while (store_step(query)) {
		int64_t status = store_integer(query);

		if (status >= 1 && status <= 3)
			by_status[status] = store_integer(query);
	}
	store_done(query);
	counts.queued = by_status[1];
	counts.running = by_status[2];
	counts.retry_wait = by_status[3];
	counts.undecided = read_count(store_query(store, STATEMENT_JOB_UNDECIDED));
	return counts;
}

bool
jobs_next_hook(struct store *store, struct job *job)
{
	return read_one(store_query(store, STATEMENT_HOOK_NEXT), job);
}

int64_t
jobs_hooks_waiting(struct store *store)
{
	return read_count(store_query(store, STATEMENT_HOOK_WAITING));
}

int64_t
jobs_hooks_failed(struct store *store)
{
	return read_count(store_query(store, STATEMENT_HOOK_FAILED));
}

int64_t
jobs_disk_bytes(struct store *store)
{
	return read_count(store_query(store, STATEMENT_JOB_DISK));
}

int64_t
jobs_oldest_approval_us(struct store *store)
{
	return read_count(store_query(store, STATEMENT_JOB_OLDEST_APPROVAL));
}

int64_t
jobs_ahead(struct store *store, const struct job *job, int64_t most)
{
	struct query *query = store_query(store, STATEMENT_JOB_AHEAD);

	store_put_integer(query, most);
	store_put_integer(query, job->priority);
	store_put_integer(query, job->available_us);
	store_put_integer(query, job->seq);
	return read_count(query);
}

int64_t
jobs_unfinished_of(struct store *store, int64_t uid)
{
	struct query *query = store_query(store, STATEMENT_JOB_PENDING_OF);

	store_put_integer(query, uid);
	return read_count(query);
}

uint64_t
jobs_next_ready(struct store *store, uint64_t now_us)
{
	struct query *query = store_query(store, STATEMENT_JOB_NEXT);

	store_put_integer(query, (int64_t)now_us);
	return (uint64_t)read_count(query);
}

void
jobs_free(struct job *job)
{
	JOB_COLUMNS(FREE, FREE)
	memset(job, 0, sizeof(*job));
}

size_t
jobs_list_count(const struct bytes *list)
{
	size_t count = 0;

	for (size_t i = 0; i < list->length; i++)
		count += list->at[i] == '\0';
	return count;
}

const char *
jobs_list_next(const struct bytes *list, const char *element)
{
	const char *begin = (const char *)list->at, *end = begin + list->length;
	const char *next = element ? element + strlen(element) + 1 : begin;

	return next < end ? next : NULL;
}
