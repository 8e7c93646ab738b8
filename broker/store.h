#ifndef STORE_H
#define STORE_H

/*
 * The database: one connection, one statement each, synced at every commit (but one kind).  Only store*.c
 * includes sqlite3.h; what the tables mean is in jobs.c, attempts.c and letters.c.
 *
 * No function here fails: a database that does not read, write or sync (or a row that breaks a
 * CHECK, which is our own bug) ends the process after one log line.  A fresh process opens the
 * database again, and sees only what was committed.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bytes.h"

enum statement {
#define STATEMENT(NAME, sql) STATEMENT_##NAME,
#include "statements.def"
#undef STATEMENT
	STATEMENT_COUNT
};

struct store;
struct query; /* one statement in use: fill, step, read, done */

/* queue.db in the working directory, made if need be.  Another process has it open: the end. */
struct store *store_open(void);
void store_close(struct store *store);

/* Called once with a sentence for people before a failure of the disk ends the process. */
void store_on_failure(void (*tell)(void *context, const char *text), void *context);

/* Transactions do not nest. */
void store_begin(struct store *store);

/*
 * A transaction whose commit does not wait for the disk: it survives this process, and the next
 * store_commit() of an ordinary one syncs it too (the write-ahead log is written in order), but a
 * power cut before that takes it back.  Only for what is told again then.
 */
void store_begin_unsynced(struct store *store);
void store_commit(struct store *store);

/* One that may be rolled back: it stands alone, also while others are gathered. */
void store_begin_alone(struct store *store);
void store_rollback(struct store *store);

/*
 * From store_gather() to store_gathered() transactions are joined into one, with one sync, which
 * store_flush() commits.  Whoever lets anything leave this process that rests on what was stored,
 * to a client, the executor or the auditor, calls store_flush() before; the rest is committed by
 * store_gathered().  Without gathering it does nothing.  What needs no sync is joined with what
 * needs one, or with its like.
 */
void store_gather(struct store *store);
void store_flush(struct store *store);
void store_gathered(struct store *store);
bool store_gathers(struct store *store);

/*
 * A copy of everything into another file of the working directory, made through our own
 * connection: nobody else can open the database.  One that was there is replaced.  False: it cannot
 * be made (*why, for people), and nothing of it is left.
 */
bool store_copy(struct store *store, const char *name, const char **why);

/* The copy for a backup, while it is made; store_open() removes one that was left. */
#define STORE_BACKUP "backup.db"
void store_forget_copy(const char *name);

/* Look through all of it; found() gets a line for each thing that should not be.  How many. */
size_t store_look(struct store *store, void (*found)(void *context, const char *text), void *context);

/*
 * Move the write-ahead log into the database, when it has at least so many pages of 4 KiB.  The
 * step after it has one sync more: while there is work, and between two commands, it waits.
 */
enum store_tidy {
	STORE_TIDY_NOW = 1,
	STORE_TIDY_IDLE = 256, /* what some eight runs write */
	STORE_TIDY_BUSY = 1024,
};

void store_tidy(struct store *store, enum store_tidy when);

/* Begin to use a statement; it must not be in use.  Fill its parameters from the left. */
struct query *store_query(struct store *store, enum statement which);
void store_put_integer(struct query *query, int64_t value);
void store_put_text(struct query *query,
    const char *text); /* borrowed until store_done(); NULL: null */
void store_put_bytes(struct query *query, const void *bytes,
    size_t length); /* likewise; never null */

/* True: there is a row; its columns are read from the left. */
bool store_step(struct query *query);
int64_t store_integer(struct query *query);
char *store_text(struct query *query);        /* a copy or NULL */
struct bytes store_bytes(struct query *query); /* a copy */
void store_done(struct query *query);

/* Step to the end and be done; how many rows were changed. */
int64_t store_run(struct query *query);
int64_t store_last_row(const struct store *store);

#endif
