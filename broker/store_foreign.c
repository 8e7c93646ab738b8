/* The first system's database.  Includes sqlite3.h, as store.c does; a connection of its own. */
#include <sqlite3.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "foreign.h"

#define ROW_MOST (16 << 20) /* of one row and of each value: a longer one is damage */

struct foreign {
	sqlite3 *db;
	sqlite3_stmt *rows;
};

/* In this order in foreign_next().  The first three are in every version. */
static const char *const columns[] = { "id", "command", "status", "idempotency_key", "cwd", "result",
	"error_class", "approval_status", "decided_by", "decision_reason", "source", "created_at",
	"updated_at", "decided_at", "attempts", "max_attempts", "timeout" };

#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

static void
harden(sqlite3 *db)
{
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, ROW_MOST);
	sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_limit(db, SQLITE_LIMIT_VDBE_OP, 25000);
	/* Rows are sorted: we may not make files for that. */
	sqlite3_exec(db,
	    "PRAGMA cell_size_check = ON; PRAGMA query_only = ON; PRAGMA temp_store = MEMORY", NULL, NULL,
	    NULL);
}

/* A copy that says of itself that it has no write-ahead log: there is none in memory. */
static bool
give_bytes(sqlite3 *db, const void *bytes, size_t length)
{
	unsigned char *copy = sqlite3_malloc64(length);

	if (!copy)
		return false;
	memcpy(copy, bytes, length);
	if (length > 20 && copy[18] == 2 && copy[19] == 2)
		copy[18] = copy[19] = 1;
	return sqlite3_deserialize(db, "main", copy, (sqlite3_int64)length, (sqlite3_int64)length,
	    SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY) == SQLITE_OK;
}

static bool
has_column(sqlite3 *db, const char *name)
{
	sqlite3_stmt *statement;
	bool found;

	if (sqlite3_prepare_v2(db, "SELECT 1 FROM pragma_table_info('jobs') WHERE name = ?", -1,
	        &statement, NULL) != SQLITE_OK)
		return false;
	sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
	found = sqlite3_step(statement) == SQLITE_ROW;
	sqlite3_finalize(statement);
	return found;
}

/* Made from the list above alone; what a version lacks is NULL. */
static bool
prepare_rows(struct foreign *foreign)
{
	char sql[1024] = "SELECT ";

	for (size_t i = 0; i < COLUMNS; i++) {
		bool there = has_column(foreign->db, columns[i]);

		if (!there && i < 3)
			return false;
		sqlite3_snprintf((int)(sizeof(sql) - strlen(sql)), sql + strlen(sql), "%s%s",
		    i ? ", " : "", there ? columns[i] : "NULL");
	}
	sqlite3_snprintf((int)(sizeof(sql) - strlen(sql)), sql + strlen(sql),
	    " FROM jobs ORDER BY %s", has_column(foreign->db, "created_at") ? "created_at" : "rowid");
	return sqlite3_prepare_v2(foreign->db, sql, -1, &foreign->rows, NULL) == SQLITE_OK;
}

/* No damage that shows: a row that is read from a torn page is nobody's job. */
static bool
is_sound(sqlite3 *db)
{
	sqlite3_stmt *statement;
	bool sound = false;

	if (sqlite3_prepare_v2(db, "SELECT integrity_check FROM pragma_integrity_check(1)", -1, &statement,
	        NULL) == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
		sound = sqlite3_stricmp((const char *)sqlite3_column_text(statement, 0), "ok") == 0;
	sqlite3_finalize(statement);
	return sound;
}

struct foreign *
foreign_open(const void *bytes, size_t length, const char **why)
{
	struct foreign *foreign = bytes_make(sizeof(*foreign));

	*foreign = (struct foreign){ 0 };
	if (sqlite3_open_v2(":memory:", &foreign->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_PRIVATECACHE,
	        NULL) == SQLITE_OK && give_bytes(foreign->db, bytes, length)) {
		harden(foreign->db);
		if (prepare_rows(foreign) && is_sound(foreign->db))
			return foreign;
	}
	*why = "this is not a database of agent-safe-runner, or a damaged one: nothing was taken over";
	foreign_close(foreign);
	return NULL;
}

void
foreign_close(struct foreign *foreign)
{
	sqlite3_finalize(foreign->rows);
	sqlite3_close(foreign->db);
	free(foreign);
}

static char *
text_of(struct foreign *foreign, int column)
{
	const char *text = (const char *)sqlite3_column_text(foreign->rows, column);

	return bytes_text(text);
}

/* Seconds with a fraction, as the first system's clock has them. */
static int64_t
moment_of(struct foreign *foreign, int column)
{
	double seconds = sqlite3_column_double(foreign->rows, column);

	return seconds > 0 && seconds < 253402300800.0 ? (int64_t)(seconds * 1e6) : 0;
}

bool
foreign_next(struct foreign *foreign, struct foreign_row *row, bool *damaged)
{
	int code = sqlite3_step(foreign->rows);

	*row = (struct foreign_row){ 0 };
	*damaged = code != SQLITE_ROW && code != SQLITE_DONE;
	if (code != SQLITE_ROW)
		return false;
	row->id = text_of(foreign, 0);
	row->command = text_of(foreign, 1);
	row->status = text_of(foreign, 2);
	row->key = text_of(foreign, 3);
	row->cwd = text_of(foreign, 4);
	row->result = text_of(foreign, 5);
	row->error_class = text_of(foreign, 6);
	row->approval = text_of(foreign, 7);
	row->decided_by = text_of(foreign, 8);
	row->reason = text_of(foreign, 9);
	row->source = text_of(foreign, 10);
	row->created_us = moment_of(foreign, 11);
	row->updated_us = moment_of(foreign, 12);
	row->decided_us = moment_of(foreign, 13);
	row->attempts = sqlite3_column_int64(foreign->rows, 14);
	row->max_attempts = sqlite3_column_int64(foreign->rows, 15);
	row->timeout = sqlite3_column_int64(foreign->rows, 16);
	return true;
}

void
foreign_free_row(struct foreign_row *row)
{
	char *const texts[] = { row->id, row->key, row->command, row->status, row->cwd, row->result,
		row->error_class, row->approval, row->decided_by, row->reason, row->source };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		free(texts[i]);
	*row = (struct foreign_row){ 0 };
}
