#ifndef RECORD_H
#define RECORD_H

/*
 * The d of every record of the broker: strict JSON as AUDIT AL1 wants it (no fractions, numbers
 * below 2^53, at most LIMIT_RECORD_BODY bytes).  Each function returns a new object.  Pure.
 *
 *   type                  when
 *   job.proposed          stored as pending, with the policy's verdict
 *   job.refused           not stored: looks like a secret, or breaks a bound; never the value
 *   secret.override       stored although arguments hold secrets: who let them pass, and why
 *   job.policy            an approved job was not started because no policy is loaded
 *   job.approved job.denied job.decision_refused
 *   job.expired           an approval's time was over
 *   job.stale             what was approved is not what would run: pending again
 *   job.dry_run
 *   job.queued            an approved job entered the queue, or became free in it: where it stands
 *   job.dispatch          exactly {"job","attempt","slot","spec_sha256"}: the auditor reads it
 *   job.cancel_requested job.cancelled
 *   job.finished          an attempt ended; with next_try_us the job waits for the next
 *   job.lost              nobody knows how an attempt ended
 *   job.dead              the policy said no to an approved job
 *   job.retry             by hand: everything is decided anew
 *   job.held job.released
 *   queue.paused queue.resumed
 *   job.pruned            {"job","runs":[[attempt,slot],...]}: an old job is forgotten, its folders go
 *   db.resync             the database was put back: what was approved is pending again
 *   db.import             jobs of the first system came in
 *   job.placed            such a job's working directory was shown
 *   policy.loaded policy.refused
 */
#include <stdint.h>

#include "json.h"
#include "run.h"

#include "attempts.h"
#include "jobs.h"

/* Who did it: uid, gid and pid from the kernel, the label as given. */
struct record_who {
	int64_t uid, gid, pid;
	const char *by; /* or NULL */
};

struct json *record_proposed(const struct job *job, bool allowed, const char *reason);
/* rule_of(): what was found in a hidden element. */
struct json *record_override(const struct job *job, const struct record_who *who, const char *reason,
    const char *(*rule_of)(const void *context, size_t element), const void *context);
/* Of a hook's run, for this event (event.h): with d.hook; and the policy's yes, with its digest. */
struct json *record_hook(const struct job *job, const struct json *event);
struct json *record_hook_approved(const struct job *job, const struct record_who *who,
    const uint8_t policy[32]);
struct json *record_refused(const struct record_who *who, const char *code, const char *what,
    const char *rule);
struct json *record_decision(const struct job *job, const struct record_who *who,
    const char *reason);
struct json *record_decision_refused(const struct job *job, const struct record_who *who,
    const char *decision, const char *code, const char *reason);
/* job.policy, job.dead, job.dry_run: who may be NULL. */
struct json *record_verdict(const struct job *job, const struct record_who *who, bool allowed,
    const char *reason);
/*
 * cause: "approved", "retry", "returned", "released" or "needs".  ahead: jobs that go before it, at most
 * RECORD_AHEAD_MOST of them are counted.  Takes waiting (names, as in waiting_for) and after (or NULL).
 */
#define RECORD_AHEAD_MOST 100
struct json *record_queued(const struct job *job, const char *cause, int64_t ahead, struct json *waiting,
    struct json *after);
struct json *record_expired(const struct job *job);
struct json *record_stale(const struct job *job, const struct json *changes);
struct json *record_dispatch(const struct job *job, const struct run_name *run,
    const uint8_t digest[32]);
struct json *record_step(const struct job *job,
    const struct record_who *who); /* cancel_requested, cancelled, retry */
struct json *record_imported(const struct job *job, const struct record_who *who); /* that may still run */
struct json *record_import(const struct record_who *who, int64_t imported, int64_t known, int64_t refused);
struct json *record_queue(const struct record_who *who); /* about no job */
/* Takes runs: [[attempt,slot],...]. */
struct json *record_pruned(const struct job *job, const struct record_who *who, struct json *runs);
struct json *record_finished(const struct job *job, const struct attempt *attempt);
struct json *record_lost(const struct job *job, const struct attempt *attempt);
struct json *record_policy(const uint8_t digest[32], int version, size_t rules, size_t roots,
    const struct record_who *who);
struct json *record_policy_refused(const char *reason, const struct record_who *who);

#endif
