/* Transactions joined, copies of the database, and looking through it.  Includes sqlite3.h, as store.c does. */
#include <sqlite3.h>

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "log.h"

#include "store_inside.h"

#define FOUND_MOST 20 /* lines about damage: one is enough to act upon */

static const char look[] =
    "SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok' "
    "UNION ALL SELECT 'a row of ' || \"table\" || ' names one of ' || parent || ' that is not there' "
    "FROM pragma_foreign_key_check "
    "UNION ALL SELECT 'outbox: a record is missing before ' || sn FROM outbox o WHERE sn > "
    "(SELECT min(sn) FROM outbox) AND type <> 'db.resync' " /* which begins behind the log */
    "AND NOT EXISTS (SELECT 1 FROM outbox p WHERE p.sn = o.sn - 1) "
    "UNION ALL SELECT 'job ' || seq || ' runs without an attempt' FROM jobs j WHERE status = 2 "
    "AND NOT EXISTS (SELECT 1 FROM attempts a WHERE a.job = j.seq AND a.number = j.runs AND a.outcome = 0) "
    "UNION ALL SELECT 'job ' || seq || ' has ended and an attempt of it has not' FROM jobs j "
    "WHERE status > 3 AND EXISTS (SELECT 1 FROM attempts a WHERE a.job = j.seq AND a.outcome = 0)";

void
store_begin_alone(struct store *store)
{
	store_flush(store);
	store_run(store_query(store, STATEMENT_BEGIN));
}

void
store_gather(struct store *store)
{
	store_turn(store)->gathering = true;
}

bool
store_gathers(struct store *store)
{
	return store_turn(store)->gathering;
}

void
store_flush(struct store *store)
{
	struct store_turn *turn = store_turn(store);

	if (!turn->open)
		return;
	turn->open = false;
	store_commit(store);
}

void
store_gathered(struct store *store)
{
	store_flush(store);
	store_turn(store)->gathering = false;
}

#define DAMAGED "queue.db.damaged" /* beside the database: something in it could not be read */

static void (*failure_tell)(void *context, const char *text);
static void *failure_context;

void
store_on_failure(void (*tell)(void *context, const char *text), void *context)
{
	failure_tell = tell;
	failure_context = context;
}

void
store_tell(const char *format, ...)
{
	void (*tell)(void *, const char *) = failure_tell;
	char text[300];
	va_list arguments;

	failure_tell = NULL;
	if (!tell)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	tell(failure_context, text);
}

void
store_hold(const char *why)
{
	int fd = openat(AT_FDCWD, DAMAGED, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0 || write(fd, why, strlen(why)) < 0)
		log_errno("store: " DAMAGED);
	store_tell("the queue's database is damaged (%s): its files are kept, nothing starts until a "
	    "copy is put back: see RESTORING in agent-safe(1)", why);
	fatal("store: the queue's database is damaged (%s): its files are kept, put a copy back: see "
	    "RESTORING in agent-safe(1)", why);
}

void
store_must_be_sound(struct store *store)
{
	bool noted = access(DAMAGED, F_OK) == 0;
	const char *sql = noted ? "SELECT integrity_check FROM pragma_integrity_check(1)"
	                        : "SELECT quick_check FROM pragma_quick_check(1)", *found;
	sqlite3_stmt *statement = NULL;

	if (sqlite3_prepare_v2(store_connection(store), sql, -1, &statement, NULL) != SQLITE_OK ||
	    sqlite3_step(statement) != SQLITE_ROW)
		store_hold(sqlite3_errmsg(store_connection(store)));
	found = (const char *)sqlite3_column_text(statement, 0);
	if (!found || strcmp(found, "ok") != 0)
		store_hold(found ? found : "out of memory");
	sqlite3_finalize(statement);
	if (noted && unlinkat(AT_FDCWD, DAMAGED, 0) == 0)
		log_info("store: the database is sound again");
}

size_t
store_look(struct store *store, void (*found)(void *context, const char *text), void *context)
{
	sqlite3_stmt *statement = NULL;
	size_t count = 0;
	int code;

	store_flush(store);
	store_compiles(store, true);
	/* Six parts: more than the limit that holds for all other statements. */
	sqlite3_limit(store_connection(store), SQLITE_LIMIT_COMPOUND_SELECT, 8);
	code = sqlite3_prepare_v2(store_connection(store), look, -1, &statement, NULL);
	while (code == SQLITE_OK && count < FOUND_MOST && sqlite3_step(statement) == SQLITE_ROW) {
		found(context, (const char *)sqlite3_column_text(statement, 0));
		count++;
	}
	if (code != SQLITE_OK || (count < FOUND_MOST && sqlite3_reset(statement) != SQLITE_OK))
		fatal("store: check: %s", sqlite3_errmsg(store_connection(store)));
	sqlite3_finalize(statement);
	sqlite3_limit(store_connection(store), SQLITE_LIMIT_COMPOUND_SELECT, 4);
	store_compiles(store, false);
	return count;
}

void
store_forget_copy(const char *name)
{
	if (unlinkat(AT_FDCWD, name, 0) < 0 && errno != ENOENT)
		fatal("store: %s: %s", name, strerror(errno));
}

/* Without a journal: a copy that is not whole is thrown away. */
static int
copy_into(sqlite3 *copy, struct store *store)
{
	sqlite3_backup *backup;
	int code = sqlite3_exec(copy, "PRAGMA journal_mode = OFF", NULL, NULL, NULL);

	if (code != SQLITE_OK)
		return code;
	backup = sqlite3_backup_init(copy, "main", store_connection(store), "main");
	if (!backup)
		return sqlite3_errcode(copy);
	code = sqlite3_backup_step(backup, -1);
	sqlite3_backup_finish(backup);
	return code == SQLITE_DONE ? SQLITE_OK : code;
}

bool
store_copy(struct store *store, const char *name, const char **why)
{
	sqlite3 *copy = NULL;
	int code, closed;

	store_flush(store);
	store_forget_copy(name);
	code = sqlite3_open_v2(name, &copy, STORE_FLAGS, STORE_FILES);
	if (code == SQLITE_OK)
		code = copy_into(copy, store);
	closed = sqlite3_close(copy);
	code = code == SQLITE_OK ? closed : code;
	if (code == SQLITE_OK)
		return true;
	*why = sqlite3_errstr(code);
	store_forget_copy(name);
	return false;
}
