#ifndef STORE_INSIDE_H
#define STORE_INSIDE_H

/* Between the files store*.c, and for nobody else. */
#include "store.h"

#define STORE_FLAGS (SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW | \
	SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_PRIVATECACHE)
#define STORE_FILES "agent-safe" /* the name of our way to files, registered by store_open() */

void store_execute(struct store *store, const char *sql);
int64_t store_ask(struct store *store, const char *sql); /* the first column of the only row */

/*
 * The database is damaged: its files are left as they are, with a note beside them, and nothing
 * starts until a sound one is in their place.
 */
_Noreturn void store_hold(const char *why);

/* What store_on_failure() was given hears why the process is about to end. */
void store_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Damage ends the process.  After a note about damage everything is looked at, else what is quick. */
void store_must_be_sound(struct store *store);

/* Make the tables of a new database, or bring an old one to our version; damage ends the process. */
void store_make_tables(struct store *store);

/* Where we stand between begin and commit. */
struct store_turn {
	bool unsynced;  /* the transaction in progress is one of store_begin_unsynced() */
	bool gathering; /* between store_gather() and store_gathered() */
	bool open;      /* and there is something that store_flush() has to commit */
};

struct store_turn *store_turn(struct store *store);

struct sqlite3 *store_connection(struct store *store);

/* May new statements be compiled?  Only while the database is looked through. */
void store_compiles(struct store *store, bool allowed);

#endif
