#ifndef COLUMNS_H
#define COLUMNS_H

/*
 * The columns of `jobs` and `attempts`, one row each: the structs, the schema, the statements
 * and the code that reads and writes rows are made from these two lists.
 *
 *   kind     in C           in SQL
 *   INTEGER  int64_t        INTEGER NOT NULL; 0 where there is nothing
 *   TEXT     char *         TEXT, NULL where there is nothing
 *   BYTES    struct bytes   BLOB NOT NULL, empty where there is nothing
 *
 * The last part is the CHECK beyond the type.  Times end in _us: CLOCK_REALTIME.
 */

/* FIXED: written once, at submit.  STATE: written with every step. */
#define JOB_COLUMNS(FIXED, STATE) \
	FIXED(id, BYTES, "length(id) = 16") \
	FIXED(key, TEXT, "length(key) BETWEEN 1 AND 200") \
	FIXED(key_given, INTEGER, "key_given IN (0, 1)") /* 0: made from the content */ \
	FIXED(argv, BYTES, "length(argv) > 0") /* each element with a NUL behind it */ \
	FIXED(environment, BYTES, "length(environment) <= 132000") /* NAME=value, likewise; sorted */ \
	FIXED(cwd, TEXT, "substr(cwd, 1, 1) = '/'") \
	FIXED(cwd_dev, INTEGER, "1") /* 64 bits, sign ignored, as the next two */ \
	FIXED(cwd_ino, INTEGER, "1") \
	FIXED(cwd_birth_ns, INTEGER, "1") \
	FIXED(cwd_handle, BYTES, "length(cwd_handle) <= 132") \
	FIXED(timeout_seconds, INTEGER, "timeout_seconds BETWEEN 1 AND 86400") \
	FIXED(max_attempts, INTEGER, "max_attempts BETWEEN 1 AND 20") \
	FIXED(label, TEXT, "label IS NULL OR length(label) <= 100") \
	FIXED(meta, TEXT, "meta IS NULL OR length(meta) <= 512") /* the caller's own words */ \
	FIXED(retry_safe, INTEGER, "retry_safe IN (0, 1)") /* a lost run may be repeated */ \
	FIXED(group_name, TEXT, "group_name IS NULL OR length(group_name) BETWEEN 1 AND 100") \
	FIXED(mutex, TEXT, "mutex IS NULL OR length(mutex) BETWEEN 1 AND 100") \
	STATE(expires_us, INTEGER, "expires_us >= 0") /* not begun by then: cancelled; 0: never */ \
	FIXED(source, TEXT, "source IN ('cli', 'mcp')") /* of a hook's run: cli, and means nothing */ \
	FIXED(hook, TEXT, "hook IS NULL OR length(hook) BETWEEN 1 AND 47") /* run by the policy on this event */ \
	FIXED(stdin_bytes, BYTES, "length(stdin_bytes) <= 131072") /* what a hook reads */ \
	FIXED(secrets, BYTES, "length(secrets) = 0 OR length(secrets) BETWEEN 44 AND 224") /* of argv: hidden.h */ \
	FIXED(submitter_uid, INTEGER, "submitter_uid BETWEEN 0 AND 4294967294") \
	FIXED(submitter_gid, INTEGER, "submitter_gid BETWEEN 0 AND 4294967294") \
	FIXED(submitter_pid, INTEGER, "submitter_pid >= 0") \
	FIXED(created_us, INTEGER, "created_us > 0") \
	STATE(status, INTEGER, "status BETWEEN 1 AND 8") \
	STATE(approval, INTEGER, "approval BETWEEN 1 AND 5") \
	STATE(priority, INTEGER, "priority BETWEEN -1000 AND 1000") \
	STATE(held, INTEGER, "held IN (0, 1)") /* by an operator */ \
	STATE(needs, INTEGER, "needs BETWEEN 0 AND 16") /* jobs that must end before: open rows of `needs` */ \
	STATE(updated_us, INTEGER, "updated_us > 0") \
	STATE(available_us, INTEGER, "available_us >= 0") \
	STATE(attempts, INTEGER, "attempts BETWEEN 0 AND 20") /* since the last retry by hand */ \
	STATE(runs, INTEGER, "runs BETWEEN 0 AND 4294967295") /* ever: number of the newest attempt */ \
	STATE(worker, TEXT, "worker IS NULL OR length(worker) <= 200") \
	STATE(slot, INTEGER, "slot BETWEEN -1 AND 63") /* of the running attempt, -1: none */ \
	STATE(result, TEXT, "result IS NULL OR length(result) > 1") \
	STATE(error_class, TEXT, "error_class IS NULL OR length(error_class) > 0") \
	STATE(cancel_us, INTEGER, "cancel_us >= 0") /* a running job was asked to end */ \
	STATE(plan, BYTES, "length(plan) <= 4194304") /* the newest assessed plan, empty: none */ \
	STATE(spec_sha256, BYTES, "length(spec_sha256) IN (0, 32)") \
	STATE(approved_sha256, BYTES, "length(approved_sha256) IN (0, 32)") \
	STATE(approval_expires_us, INTEGER, "approval_expires_us >= 0") \
	STATE(decided_us, INTEGER, "decided_us >= 0") \
	STATE(decided_by, TEXT, "decided_by IS NULL OR length(decided_by) <= 200") \
	STATE(decided_uid, INTEGER, "decided_uid BETWEEN -1 AND 4294967294") /* -1: nobody */ \
	STATE(decision_reason, TEXT, "decision_reason IS NULL OR length(decision_reason) <= 2000") \
	STATE(self_approved, INTEGER, "self_approved IN (0, 1)") \
	STATE(effect_sn, INTEGER, "effect_sn >= -1") /* the newest record of this job that anything waits for */

/* One row per run of a job. */
#define ATTEMPT_COLUMNS(COLUMN) \
	COLUMN(job, INTEGER, "job > 0") /* jobs.seq */ \
	COLUMN(number, INTEGER, "number > 0") \
	COLUMN(slot, INTEGER, "slot BETWEEN 0 AND 63") \
	COLUMN(digest, BYTES, "length(digest) = 32") /* of the plan */ \
	COLUMN(dispatch_sn, INTEGER, "dispatch_sn >= 0") \
	COLUMN(worker, TEXT, "worker IS NULL OR length(worker) <= 200") \
	COLUMN(boot_id, BYTES, "length(boot_id) IN (0, 16)") /* of the kernel it was dispatched under */ \
	COLUMN(dispatched_us, INTEGER, "dispatched_us > 0") \
	COLUMN(started_us, INTEGER, "started_us >= 0") /* 0: not (yet) */ \
	COLUMN(ended_us, INTEGER, "ended_us >= 0") /* 0: it runs */ \
	COLUMN(next_try_us, INTEGER, "next_try_us >= 0") \
	COLUMN(outcome, INTEGER, "outcome BETWEEN 0 AND 10") /* enum outcome; 0: it runs */ \
	COLUMN(exit_code, INTEGER, "exit_code BETWEEN -1 AND 255") \
	COLUMN(signal, INTEGER, "signal BETWEEN 0 AND 64") \
	COLUMN(stage, INTEGER, "stage BETWEEN 0 AND 32") \
	COLUMN(error, INTEGER, "error BETWEEN 0 AND 4095") \
	COLUMN(flags, INTEGER, "flags >= 0") \
	COLUMN(duration_us, INTEGER, "duration_us >= 0") \
	COLUMN(user_us, INTEGER, "user_us >= 0") \
	COLUMN(system_us, INTEGER, "system_us >= 0") \
	COLUMN(max_rss_kb, INTEGER, "max_rss_kb >= 0") \
	COLUMN(layers, INTEGER, "layers >= 0") \
	COLUMN(out_bytes, INTEGER, "out_bytes >= 0") \
	COLUMN(out_stored, INTEGER, "out_stored >= 0") \
	COLUMN(out_head, INTEGER, "out_head >= 0") \
	COLUMN(out_sha256, BYTES, "length(out_sha256) IN (0, 32)") \
	COLUMN(err_bytes, INTEGER, "err_bytes >= 0") \
	COLUMN(err_stored, INTEGER, "err_stored >= 0") \
	COLUMN(err_head, INTEGER, "err_head >= 0") \
	COLUMN(err_sha256, BYTES, "length(err_sha256) IN (0, 32)") \
	COLUMN(redactions, INTEGER, "redactions >= 0")

/* Members of a struct. */
#define COLUMN_INTEGER(name) int64_t name;
#define COLUMN_TEXT(name) char *name;
#define COLUMN_BYTES(name) struct bytes name;
#define COLUMN_MEMBER(name, kind, check) COLUMN_##kind(name)

#endif
