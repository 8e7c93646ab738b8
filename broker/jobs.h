#ifndef JOBS_H
#define JOBS_H

/* The table `jobs`: what a job is, and how it is read and written. */
#include <stdbool.h>
#include <stdint.h>

#include "bytes.h"
#include "columns.h"
#include "store.h"

/* Zeroed by jobs_free(); its texts and bytes are its own. */
struct job {
	int64_t seq;     /* order of submission; 0: not stored */
	int64_t version; /* counts the steps */
	JOB_COLUMNS(COLUMN_MEMBER, COLUMN_MEMBER)
};

/* A new random name of a job: a UUID of version 4. */
void jobs_new_id(uint8_t id[16]);

/* job->seq is set.  Inside a transaction. */
void jobs_add(struct store *store, struct job *job);

/*
 * Write the state of a job that was read as job->version.  Who reads, steps and writes inside one
 * transaction cannot be overtaken; an older version is our own bug and ends the process.
 */
void jobs_change(struct store *store, struct job *job);

/* False: there is none.  job is filled (free it) or zeroed. */
bool jobs_by_id(struct store *store, const uint8_t id[16], struct job *job);
bool jobs_by_seq(struct store *store, int64_t seq, struct job *job);

/* The newest of this submitter with this key; only_unfinished: that has not ended. */
bool jobs_by_key(struct store *store, int64_t uid, const char *key, bool only_unfinished,
    struct job *job);

/* Not begun, and to be cancelled first when its time is over. */
bool jobs_next_due(struct store *store, struct job *job);

/* The approval that ends first. */
bool jobs_next_expiry(struct store *store, struct job *job);

/* Call visit() with each, in order, until it says false.  The job is freed after it. */
typedef bool jobs_visitor(void *context, struct job *job);
void jobs_each_ready(struct store *store, uint64_t now_us, int64_t acked_sn, jobs_visitor *visit,
    void *context);
void jobs_each_running(struct store *store, jobs_visitor *visit, void *context);

struct jobs_page {
	uint32_t statuses, approvals; /* bits 1 << enum */
	const char *source;           /* NULL: any */
	int64_t submitter;            /* -1: any */
	const char *label;            /* NULL: any */
	int64_t since_us, until_us;   /* of creation, both included */
	int64_t from;                 /* rows behind this seq, in the order of the page */
	bool newest_first;
	bool hooks;                   /* the runs of hooks too */
};
void jobs_each_of_page(struct store *store, const struct jobs_page *page, jobs_visitor *visit,
    void *context);

/* The one change of a working directory's identity: of an imported job, whose was not known. */
void jobs_place(struct store *store, const struct job *job);

/* A job that has ended, and what it takes of the disk with its runs. */
struct jobs_ended {
	int64_t seq, updated_us, bytes;
};

/* Those in one of these states (bits), oldest first, until visit() says false. */
void jobs_each_ended(struct store *store, uint32_t statuses,
    bool (*visit)(void *context, const struct jobs_ended *ended), void *context);

/* All jobs together, whatever their state: as many bytes of the disk.  Reads every row. */
int64_t jobs_disk_bytes(struct store *store);

/* Inside a transaction: the job with all that hangs on it. */
void jobs_remove(struct store *store, int64_t seq);

/*
 * Inside a transaction, after the database was put back: what is approved and waits is pending
 * again, and no attempt number that may have been used is used again.
 */
void jobs_resync(struct store *store);

struct jobs_counts {
	int64_t queued, running, retry_wait, undecided;
};
struct jobs_counts jobs_count(struct store *store);
int64_t jobs_unfinished_of(struct store *store, int64_t uid);

/* Runs of hooks: the one that runs or is next (false: none), how many wait, how many did not succeed. */
bool jobs_next_hook(struct store *store, struct job *job);
int64_t jobs_hooks_waiting(struct store *store);
int64_t jobs_hooks_failed(struct store *store);

/* When the oldest approval was given that a run may still refer to; 0: there is none. */
int64_t jobs_oldest_approval_us(struct store *store);
/* Of the waiting jobs that are free to run: how many go before this one; counts no further than most. */
int64_t jobs_ahead(struct store *store, const struct job *job, int64_t most);
/* When the next approved job becomes ready by the clock alone (realtime us); 0: none will. */
uint64_t jobs_next_ready(struct store *store, uint64_t now_us);

void jobs_free(struct job *job);

/* Elements with a NUL behind each, as argv and environment are stored. */
size_t jobs_list_count(const struct bytes *list);
/* The element behind this one (NULL: the first), or NULL at the end. */
const char *jobs_list_next(const struct bytes *list, const char *element);

#endif
