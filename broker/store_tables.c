/* The tables, and how those of an older version become these.  Includes sqlite3.h, as store.c does. */
#include <sqlite3.h>

#include "log.h"

#include "columns.h"
#include "store_inside.h"

#define STORE_VERSION 5                /* PRAGMA user_version; a newer one is refused */
#define STORE_APPLICATION 0x41536166   /* PRAGMA application_id: "ASaf" */

#define SQL_INTEGER "INTEGER NOT NULL"
#define SQL_TEXT "TEXT"
#define SQL_BYTES "BLOB NOT NULL"
#define SQL_COLUMN(name, kind, check) ", " #name " " SQL_##kind " CHECK (" check ")"
#define SQL_LISTED(name, kind, check) ", " #name

#define INDEX_READY \
	"CREATE INDEX jobs_ready ON jobs (priority DESC, available_us, seq) " \
	"WHERE status IN (1, 3) AND approval = 2 AND held = 0 AND needs = 0;"
/* Jobs that end themselves when they have not begun by then; a run that was never begun is no attempt. */
#define INDEX_DUE \
	"CREATE INDEX jobs_due ON jobs (expires_us) WHERE status = 1 AND attempts = 0 AND expires_us > 0;"
#define INDEX_TIMED \
	"CREATE INDEX jobs_timed ON jobs (available_us) " \
	"WHERE status IN (1, 3) AND approval = 2 AND held = 0 AND needs = 0;"

/* job waits for on_job: want 1: that it succeeded, 2: that it ended, 3: that it ended otherwise. */
#define TABLE_NEEDS \
	"CREATE TABLE needs (job INTEGER NOT NULL REFERENCES jobs (seq), " \
	"on_job INTEGER NOT NULL REFERENCES jobs (seq), " \
	"want INTEGER NOT NULL CHECK (want BETWEEN 1 AND 3), " \
	"met INTEGER NOT NULL CHECK (met IN (0, 1)), PRIMARY KEY (job, on_job)) STRICT, WITHOUT ROWID;" \
	"CREATE INDEX needs_open ON needs (on_job) WHERE met = 0;"

/* The last record that was told to the hooks (-1: none), and how many events never were. */
#define HOOK_CURSOR "hook_sn INTEGER NOT NULL DEFAULT -1 CHECK (hook_sn >= -1)"
#define HOOK_SKIPPED "hook_skipped INTEGER NOT NULL DEFAULT 0 CHECK (hook_skipped >= 0)"
#define INDEX_HOOKS \
	"CREATE INDEX jobs_hooks ON jobs (status, seq) WHERE hook IS NOT NULL;"
#define COLUMNS_HOOKS \
	"ALTER TABLE jobs ADD COLUMN hook TEXT CHECK (hook IS NULL OR length(hook) BETWEEN 1 AND 47);" \
	"ALTER TABLE jobs ADD COLUMN stdin_bytes BLOB NOT NULL DEFAULT x'' " \
	"CHECK (length(stdin_bytes) <= 131072);" \
	"ALTER TABLE meta ADD COLUMN " HOOK_CURSOR ";" \
	"ALTER TABLE meta ADD COLUMN " HOOK_SKIPPED ";"

/* seq and version are the store's own; the rest comes from columns.h. */
static const char schema_jobs[] =
    "CREATE TABLE jobs (seq INTEGER PRIMARY KEY AUTOINCREMENT, version INTEGER NOT NULL DEFAULT 0"
    JOB_COLUMNS(SQL_COLUMN, SQL_COLUMN)
    ") STRICT;"
    "CREATE UNIQUE INDEX jobs_id ON jobs (id);"
    "CREATE INDEX jobs_key ON jobs (submitter_uid, key, seq);"
    INDEX_READY
    "CREATE INDEX jobs_running ON jobs (seq) WHERE status = 2;"
    INDEX_DUE INDEX_TIMED
    "CREATE INDEX jobs_expiry ON jobs (approval_expires_us) "
    "WHERE status = 1 AND approval = 2 AND approval_expires_us > 0;"
    "CREATE INDEX jobs_unfinished ON jobs (submitter_uid, status) WHERE status IN (1, 2, 3);"
    "CREATE INDEX jobs_undecided ON jobs (seq) WHERE status IN (1, 3) AND approval IN (1, 4);";

static const char schema_attempts[] =
    "CREATE TABLE attempts (seq INTEGER PRIMARY KEY"
    ATTEMPT_COLUMNS(SQL_COLUMN)
    ", UNIQUE (job, number), FOREIGN KEY (job) REFERENCES jobs (seq)) STRICT;";

static const char schema_rest[] =
    "CREATE TABLE decisions (seq INTEGER PRIMARY KEY, job INTEGER NOT NULL REFERENCES jobs (seq), "
    "at_us INTEGER NOT NULL CHECK (at_us > 0), "
    "decision TEXT NOT NULL CHECK (decision IN ('approved', 'denied', 'expired', 'stale')), "
    "by TEXT CHECK (by IS NULL OR length(by) <= 200), "
    "uid INTEGER NOT NULL CHECK (uid BETWEEN -1 AND 4294967294), "
    "reason TEXT CHECK (reason IS NULL OR length(reason) <= 2000), "
    "digest BLOB NOT NULL CHECK (length(digest) IN (0, 32)), "
    "changes TEXT CHECK (changes IS NULL OR length(changes) > 1)) STRICT;"
    "CREATE INDEX decisions_job ON decisions (job, seq);"
    "CREATE TABLE outbox (sn INTEGER PRIMARY KEY CHECK (sn >= 0), "
    "type TEXT NOT NULL CHECK (length(type) BETWEEN 1 AND 47), "
    "d BLOB NOT NULL CHECK (length(d) BETWEEN 2 AND 65024), "
    "seal INTEGER NOT NULL CHECK (seal IN (0, 1)), "
    "job INTEGER NOT NULL CHECK (job >= 0), " /* jobs.seq, 0: about no job */
    "created_us INTEGER NOT NULL CHECK (created_us > 0), "
    "acked_seq INTEGER CHECK (acked_seq IS NULL OR acked_seq >= 0)) STRICT;"
    "CREATE INDEX outbox_unacked ON outbox (sn) WHERE acked_seq IS NULL;"
    "CREATE INDEX outbox_old ON outbox (created_us) WHERE acked_seq IS NOT NULL;"
    "CREATE TABLE meta (only INTEGER PRIMARY KEY CHECK (only = 1), "
    "next_sn INTEGER NOT NULL CHECK (next_sn >= 0), "
    "acked_sn INTEGER NOT NULL CHECK (acked_sn >= -1), " /* -1: none */
    "acked_seq INTEGER NOT NULL CHECK (acked_seq >= 0), "
    "acked_hash BLOB NOT NULL CHECK (length(acked_hash) = 32), "
    "policy_sha256 BLOB NOT NULL CHECK (length(policy_sha256) IN (0, 32)), "
    "held INTEGER NOT NULL DEFAULT 0 CHECK (held IN (0, 1)), " /* the whole queue */
    HOOK_CURSOR ", " HOOK_SKIPPED ") STRICT;"
    "INSERT INTO meta VALUES (1, 0, -1, 0, zeroblob(32), x'', 0, -1, 0);"
    TABLE_NEEDS INDEX_HOOKS;

/*
 * From version N (the place in the list, counted from 1) to N + 1, each in one transaction.  A new
 * row here, a new STORE_VERSION above; what was released is never changed.
 */
static const char *const schema_steps[STORE_VERSION - 1] = {
	"ALTER TABLE jobs ADD COLUMN retry_safe INTEGER NOT NULL DEFAULT 0 CHECK (retry_safe IN (0, 1));"
	"ALTER TABLE jobs ADD COLUMN group_name TEXT "
	"CHECK (group_name IS NULL OR length(group_name) BETWEEN 1 AND 100);"
	"ALTER TABLE jobs ADD COLUMN mutex TEXT CHECK (mutex IS NULL OR length(mutex) BETWEEN 1 AND 100);"
	"ALTER TABLE jobs ADD COLUMN expires_us INTEGER NOT NULL DEFAULT 0 CHECK (expires_us >= 0);"
	"ALTER TABLE jobs ADD COLUMN held INTEGER NOT NULL DEFAULT 0 CHECK (held IN (0, 1));"
	"ALTER TABLE jobs ADD COLUMN needs INTEGER NOT NULL DEFAULT 0 CHECK (needs BETWEEN 0 AND 16);"
	/* A new column, and a bound that grew. */
	"CREATE TABLE attempts_2 (seq INTEGER PRIMARY KEY, job INTEGER NOT NULL CHECK (job > 0), "
	"number INTEGER NOT NULL CHECK (number > 0), "
	"slot INTEGER NOT NULL CHECK (slot BETWEEN 0 AND 63), "
	"digest BLOB NOT NULL CHECK (length(digest) = 32), "
	"dispatch_sn INTEGER NOT NULL CHECK (dispatch_sn >= 0), "
	"worker TEXT CHECK (worker IS NULL OR length(worker) <= 200), "
	"boot_id BLOB NOT NULL CHECK (length(boot_id) IN (0, 16)), "
	"dispatched_us INTEGER NOT NULL CHECK (dispatched_us > 0), "
	"started_us INTEGER NOT NULL CHECK (started_us >= 0), "
	"ended_us INTEGER NOT NULL CHECK (ended_us >= 0), "
	"next_try_us INTEGER NOT NULL CHECK (next_try_us >= 0), "
	"outcome INTEGER NOT NULL CHECK (outcome BETWEEN 0 AND 10), "
	"exit_code INTEGER NOT NULL CHECK (exit_code BETWEEN -1 AND 255), "
	"signal INTEGER NOT NULL CHECK (signal BETWEEN 0 AND 64), "
	"stage INTEGER NOT NULL CHECK (stage BETWEEN 0 AND 32), "
	"error INTEGER NOT NULL CHECK (error BETWEEN 0 AND 4095), "
	"flags INTEGER NOT NULL CHECK (flags >= 0), "
	"duration_us INTEGER NOT NULL CHECK (duration_us >= 0), "
	"user_us INTEGER NOT NULL CHECK (user_us >= 0), "
	"system_us INTEGER NOT NULL CHECK (system_us >= 0), "
	"max_rss_kb INTEGER NOT NULL CHECK (max_rss_kb >= 0), "
	"layers INTEGER NOT NULL CHECK (layers >= 0), out_bytes INTEGER NOT NULL CHECK (out_bytes >= 0), "
	"out_stored INTEGER NOT NULL CHECK (out_stored >= 0), "
	"out_head INTEGER NOT NULL CHECK (out_head >= 0), "
	"out_sha256 BLOB NOT NULL CHECK (length(out_sha256) IN (0, 32)), "
	"err_bytes INTEGER NOT NULL CHECK (err_bytes >= 0), "
	"err_stored INTEGER NOT NULL CHECK (err_stored >= 0), "
	"err_head INTEGER NOT NULL CHECK (err_head >= 0), "
	"err_sha256 BLOB NOT NULL CHECK (length(err_sha256) IN (0, 32)), "
	"redactions INTEGER NOT NULL CHECK (redactions >= 0), UNIQUE (job, number), "
	"FOREIGN KEY (job) REFERENCES jobs (seq)) STRICT;"
	"INSERT INTO attempts_2 (seq, job, number, slot, digest, dispatch_sn, worker, dispatched_us, "
	"started_us, ended_us, next_try_us, outcome, exit_code, signal, stage, error, flags, "
	"duration_us, user_us, system_us, max_rss_kb, layers, out_bytes, out_stored, out_head, "
	"out_sha256, err_bytes, err_stored, err_head, err_sha256, redactions, boot_id) SELECT seq, job, "
	"number, slot, digest, dispatch_sn, worker, dispatched_us, started_us, ended_us, next_try_us, "
	"outcome, exit_code, signal, stage, error, flags, duration_us, user_us, system_us, max_rss_kb, "
	"layers, out_bytes, out_stored, out_head, out_sha256, err_bytes, err_stored, err_head, "
	"err_sha256, redactions, x'' FROM attempts;"
	"DROP TABLE attempts;"
	"ALTER TABLE attempts_2 RENAME TO attempts;"
	"ALTER TABLE meta ADD COLUMN held INTEGER NOT NULL DEFAULT 0 CHECK (held IN (0, 1));"
	"DROP INDEX jobs_ready;" INDEX_READY INDEX_DUE INDEX_TIMED TABLE_NEEDS,
	/* One outcome more: "violated". */
	"CREATE TABLE attempts_3 (seq INTEGER PRIMARY KEY" ATTEMPT_COLUMNS(SQL_COLUMN)
	", UNIQUE (job, number), FOREIGN KEY (job) REFERENCES jobs (seq)) STRICT;"
	"INSERT INTO attempts_3 (seq" ATTEMPT_COLUMNS(SQL_LISTED) ") "
	"SELECT seq" ATTEMPT_COLUMNS(SQL_LISTED) " FROM attempts;"
	"DROP TABLE attempts; ALTER TABLE attempts_3 RENAME TO attempts;",
	COLUMNS_HOOKS INDEX_HOOKS,
	("DROP INDEX jobs_due;" INDEX_DUE
	"ALTER TABLE jobs ADD COLUMN secrets BLOB NOT NULL DEFAULT x'' "
	"CHECK (length(secrets) = 0 OR length(secrets) BETWEEN 44 AND 224);"),
};

static void
make_tables(struct store *store)
{
	char stamp[100];

	store_execute(store, "BEGIN IMMEDIATE");
	store_execute(store, schema_jobs);
	store_execute(store, schema_attempts);
	store_execute(store, schema_rest);
	sqlite3_snprintf(sizeof(stamp), stamp,
	    "PRAGMA application_id = %d; PRAGMA user_version = %d", STORE_APPLICATION,
	    STORE_VERSION);
	store_execute(store, stamp);
	store_execute(store, "COMMIT");
	log_info("store: made a new queue");
}

/* Step by step to our version; the database as it was stays beside it. */
static void
migrate(struct store *store, int64_t version)
{
	const char *why;
	char text[60];

	sqlite3_snprintf(sizeof(text), text, "queue.db.v%d", (int)version);
	if (!store_copy(store, text, &why))
		fatal("store: %s, without which nothing is changed: %s", text, why);
	for (int64_t step = version; step < STORE_VERSION; step++) {
		store_execute(store, "BEGIN IMMEDIATE");
		store_execute(store, schema_steps[step - 1]);
		sqlite3_snprintf(sizeof(text), text, "PRAGMA user_version = %d", (int)step + 1);
		store_execute(store, text);
		store_execute(store, "COMMIT");
	}
	log_info("store: brought from version %lld to %d", (long long)version, STORE_VERSION);
}

/* Ours, of a version we know, and sound; a newer one may hold what we would not understand. */
void
store_make_tables(struct store *store)
{
	int64_t version = store_ask(store, "PRAGMA user_version");

	if (version == 0 && store_ask(store, "SELECT count(*) FROM sqlite_schema") == 0) {
		make_tables(store);
		return;
	}
	if (store_ask(store, "PRAGMA application_id") != STORE_APPLICATION)
		fatal("store: this is not a queue of agent-safe");
	if (version < 1 || version > STORE_VERSION)
		fatal("store: version %lld, this program knows %d", (long long)version,
		    STORE_VERSION);
	store_must_be_sound(store);
	if (version < STORE_VERSION)
		migrate(store, version);
}
