/* The database.  The only file that includes sqlite3.h. */
#include <sqlite3.h>

#include <stdlib.h>
#include <string.h>

#include "digest.h"
#include "log.h"

#include "store.h"
#include "store_inside.h"
#include "store_schema.h"

#define STORE_FILE "queue.db"

struct query {
	struct store *store;
	sqlite3_stmt *statement;
	int filled, read;
	bool used;
};

struct store {
	sqlite3 *db;
	struct query queries[STATEMENT_COUNT];
	int wal_pages;
	bool ready;    /* every statement is prepared: nothing more will be */
	struct store_turn turn;
};

static const char *const statements[STATEMENT_COUNT] = {
#define STATEMENT(NAME, sql) [STATEMENT_##NAME] = sql,
#include "statements.def"
#undef STATEMENT
};

/*
 * Anything but these three ends the process; the next opening rolls back what was not committed.
 * Nothing goes on after an error of the disk: what it holds then is known only to who opens it anew.
 */
static int
check(struct store *store, int code, const char *what)
{
	const char *why;

	if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE)
		return code;
	store->turn.open = false; /* what was gathered is not committed by those who hear of this */
	why = store->db ? sqlite3_errmsg(store->db) : sqlite3_errstr(code);
	if ((code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB)
		store_hold(why);
	store_tell("the queue's database cannot be written (%s): the service ends, and the next start "
	    "shows whether this step was taken", why);
	fatal("store: %s: %s (%d)", what, why, code);
}

void
store_execute(struct store *store, const char *sql)
{
	check(store, sqlite3_exec(store->db, sql, NULL, NULL, NULL), sql);
}

/* The first column of the only row. */
int64_t
store_ask(struct store *store, const char *sql)
{
	sqlite3_stmt *statement;
	int64_t value;

	check(store, sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL), sql);
	if (check(store, sqlite3_step(statement), sql) != SQLITE_ROW)
		fatal("store: %s: no row", sql);
	value = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return value;
}

/*
 * The name as it is: relative to the working directory, which is the state folder.  The
 * original walks the whole path with lstat(), through folders that are closed to our uid.
 */
static int
full_name(sqlite3_vfs *vfs, const char *name, int size, char *out)
{
	(void)vfs;
	return sqlite3_snprintf(size, out, "%s", name) && strlen(out) == strlen(name) ?
	    SQLITE_OK : SQLITE_CANTOPEN;
}

/* /dev/urandom is out of reach behind Landlock. */
static int
random_of_kernel(sqlite3_vfs *vfs, int size, char *out)
{
	(void)vfs;
	random_bytes(out, (size_t)size);
	return size;
}

static void
register_files(void)
{
	static sqlite3_vfs files;

	if (files.zName)
		return;
	files = *sqlite3_vfs_find("unix");
	files.zName = "agent-safe";
	files.pNext = NULL;
	files.xFullPathname = full_name;
	files.xRandomness = random_of_kernel;
	if (sqlite3_vfs_register(&files, 0) != SQLITE_OK)
		fatal("store: no files");
}

static int
on_commit_to_wal(void *context, sqlite3 *db, const char *name, int pages)
{
	struct store *store = context;

	(void)db;
	(void)name;
	store->wal_pages = pages;
	return SQLITE_OK;
}

/* After all statements are prepared nothing new may be compiled but store_begin_unsynced()'s. */
static int
authorise(void *context, int action, const char *a, const char *b, const char *c, const char *d)
{
	const struct store *store = context;

	(void)b;
	(void)c;
	(void)d;
	if (!store->ready)
		return action == SQLITE_ATTACH || action == SQLITE_DETACH ? SQLITE_DENY : SQLITE_OK;
	return action == SQLITE_PRAGMA && strcmp(a, "synchronous") == 0 ? SQLITE_OK : SQLITE_DENY;
}

static void
harden(struct store *store)
{
	static const struct { int option, value; } options[] = {
		{ SQLITE_DBCONFIG_DEFENSIVE, 1 }, { SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
		{ SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0 }, { SQLITE_DBCONFIG_ENABLE_VIEW, 0 },
		{ SQLITE_DBCONFIG_DQS_DML, 0 }, { SQLITE_DBCONFIG_DQS_DDL, 0 },
		{ SQLITE_DBCONFIG_ENABLE_FKEY, 1 }, { SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0 },
	};
	static const struct { int limit, value; } limits[] = {
		{ SQLITE_LIMIT_LENGTH, 8 << 20 }, /* a plan of 4 MiB and an argv beside it */
		{ SQLITE_LIMIT_SQL_LENGTH, 64 << 10 }, { SQLITE_LIMIT_COLUMN, 64 },
		{ SQLITE_LIMIT_EXPR_DEPTH, 40 }, { SQLITE_LIMIT_COMPOUND_SELECT, 4 },
		{ SQLITE_LIMIT_VDBE_OP, 25000 }, { SQLITE_LIMIT_FUNCTION_ARG, 16 },
		{ SQLITE_LIMIT_ATTACHED, 0 }, { SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 50 },
		{ SQLITE_LIMIT_VARIABLE_NUMBER, 64 }, { SQLITE_LIMIT_TRIGGER_DEPTH, 4 },
		{ SQLITE_LIMIT_WORKER_THREADS, 0 },
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		check(store,
		    sqlite3_db_config(store->db, options[i].option, options[i].value, NULL),
		    "harden");
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		sqlite3_limit(store->db, limits[i].limit, limits[i].value);
	sqlite3_set_authorizer(store->db, authorise, store);
}

/* EXCLUSIVE before WAL: the index lies in our heap, and a second opener gets SQLITE_BUSY. */
static const char pragmas[] =
    "PRAGMA locking_mode = EXCLUSIVE;"
    "PRAGMA journal_mode = WAL;"
    "PRAGMA synchronous = FULL;"
    "PRAGMA cell_size_check = ON;"
    "PRAGMA mmap_size = 0;"
    "PRAGMA secure_delete = ON;"
    "PRAGMA temp_store = MEMORY;"
    "PRAGMA wal_autocheckpoint = 0;"
    "PRAGMA foreign_keys = ON;";

static void
prepare(struct store *store)
{
	for (int i = 0; i < STATEMENT_COUNT; i++) {
		store->queries[i].store = store;
		check(store,
		    sqlite3_prepare_v3(store->db, statements[i], -1, SQLITE_PREPARE_PERSISTENT,
		        &store->queries[i].statement, NULL),
		    statements[i]);
	}
	store->ready = true;
}

struct store *
store_open(void)
{
	struct store *store = bytes_make(sizeof(*store));
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW |
	    SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_PRIVATECACHE;

	register_files();
	check(store, sqlite3_open_v2(STORE_FILE, &store->db, flags, "agent-safe"), "open");
	harden(store);
	store_forget_copy(STORE_BACKUP);
	check(store, sqlite3_exec(store->db, pragmas, NULL, NULL, NULL), "the queue's file");
	store_make_tables(store);
	sqlite3_wal_hook(store->db, on_commit_to_wal, store);
	prepare(store);
	return store;
}

void
store_close(struct store *store)
{
	for (int i = 0; i < STATEMENT_COUNT; i++)
		sqlite3_finalize(store->queries[i].statement);
	if (sqlite3_close(store->db) != SQLITE_OK)
		log_error("store: close: %s", sqlite3_errmsg(store->db));
	free(store);
}

struct sqlite3 *
store_connection(struct store *store)
{
	return store->db;
}

void
store_compiles(struct store *store, bool allowed)
{
	store->ready = !allowed;
}

struct store_turn *
store_turn(struct store *store)
{
	return &store->turn;
}

void
store_begin(struct store *store)
{
	if (store->turn.open && store->turn.unsynced)
		store_flush(store); /* its own commit; ours syncs both */
	if (store->turn.open)
		return; /* joins what is gathered */
	store_run(store_query(store, STATEMENT_BEGIN));
	store->turn.open = store->turn.gathering;
}

/* SQLite takes this pragma while it compiles it: it cannot be prepared once. */
static void
set_synced(struct store *store, bool synced)
{
	store->turn.unsynced = !synced;
	check(store,
	    sqlite3_exec(store->db, synced ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL",
	        NULL, NULL, NULL),
	    "synchronous");
}

void
store_begin_unsynced(struct store *store)
{
	if (store->turn.open)
		return; /* joins what is gathered, and what that needs */
	set_synced(store, false);
	store_run(store_query(store, STATEMENT_BEGIN));
	store->turn.open = store->turn.gathering;
}

void
store_commit(struct store *store)
{
	if (store->turn.open)
		return; /* store_flush() does */
	store_run(store_query(store, STATEMENT_COMMIT));
	if (store->turn.unsynced)
		set_synced(store, true);
}

void
store_rollback(struct store *store)
{
	if (store->turn.open)
		fatal("store: what is gathered would be rolled back");
	store_run(store_query(store, STATEMENT_ROLLBACK));
	if (store->turn.unsynced)
		set_synced(store, true);
}

void
store_tidy(struct store *store, enum store_tidy when)
{
	if (store->wal_pages < (int)when)
		return;
	/* Under load the file keeps its blocks: to write over them takes the disk less than new ones. */
	check(store,
	    sqlite3_wal_checkpoint_v2(store->db, NULL,
	        when == STORE_TIDY_BUSY ? SQLITE_CHECKPOINT_RESTART : SQLITE_CHECKPOINT_TRUNCATE,
	        NULL, NULL),
	    "checkpoint");
	store->wal_pages = 0;
}

struct query *
store_query(struct store *store, enum statement which)
{
	struct query *query = &store->queries[which];

	if (query->used)
		fatal("store: statement in use: %s", statements[which]);
	query->used = true;
	query->filled = query->read = 0;
	return query;
}

void
store_put_integer(struct query *query, int64_t value)
{
	check(query->store, sqlite3_bind_int64(query->statement, ++query->filled, value), "bind");
}

void
store_put_text(struct query *query, const char *text)
{
	check(query->store, text ?
	    sqlite3_bind_text(query->statement, ++query->filled, text, -1, SQLITE_STATIC) :
	    sqlite3_bind_null(query->statement, ++query->filled), "bind");
}

void
store_put_bytes(struct query *query, const void *bytes, size_t length)
{
	/* A NULL pointer would bind null. */
	check(query->store,
	    sqlite3_bind_blob64(query->statement, ++query->filled, bytes ? bytes : "", length,
	        SQLITE_STATIC),
	    "bind");
}

bool
store_step(struct query *query)
{
	query->read = 0;
	return check(query->store, sqlite3_step(query->statement), sqlite3_sql(query->statement)) ==
	    SQLITE_ROW;
}

int64_t
store_integer(struct query *query)
{
	return sqlite3_column_int64(query->statement, query->read++);
}

char *
store_text(struct query *query)
{
	return bytes_text((const char *)sqlite3_column_text(query->statement, query->read++));
}

struct bytes
store_bytes(struct query *query)
{
	const void *at = sqlite3_column_blob(query->statement, query->read);

	return bytes_copy(at, (size_t)sqlite3_column_bytes(query->statement, query->read++));
}

void
store_done(struct query *query)
{
	sqlite3_reset(query->statement);
	sqlite3_clear_bindings(query->statement);
	query->used = false;
}

int64_t
store_run(struct query *query)
{
	while (store_step(query))
		;
	store_done(query);
	return sqlite3_changes64(query->store->db);
}

int64_t
store_last_row(const struct store *store)
{
	return sqlite3_last_insert_rowid(store->db);
}
