#ifndef METHODS_H
#define METHODS_H

/* What several methods need. */
#include <stdbool.h>
#include <stdint.h>

#include "boot.h"
#include "json.h"

#include "attempts.h"
#include "jobs.h"
#include "record.h"

struct broker;
struct operation;

/* The peer, with the label it gave (may be NULL). */
struct record_who methods_who(const struct operation *operation, const char *by);

/* The broker itself, where no peer is behind it. */
struct record_who methods_ourselves(const struct broker *broker, const char *by);

/* The deepest root of the policy that holds a directory, or NULL. */
const struct boot_root *methods_root_of(const struct broker *broker, const char *path);

/* May new work be taken?  False: the log accepts no records, and the operation has been refused. */
bool methods_may_change(struct operation *operation);

/* May a job be proposed?  As above, and also refused while space for the log is low. */
bool methods_may_propose(struct operation *operation);

/* operation->job as it is now.  False: it has been pruned meanwhile, and the operation has been refused. */
bool methods_load(struct operation *operation, struct job *job);

/* When record sn is durable: answer with operation->job as it is then. */
void methods_answer_job_after(struct operation *operation, uint64_t sn);
void methods_answer_job(struct operation *operation);

/*
 * One step of a stored job in one transaction with its record and, when decision is not NULL,
 * its line of history.  Takes d.  job->effect_sn is set; returns the record's number.
 */
uint64_t methods_step(struct broker *broker, struct job *job, const char *type, struct json *d,
    bool seal, const struct decision *decision);

/*
 * The same for a step after which the approved job stands in the queue, with job.queued right behind
 * its record.  cause: see record_queued().
 */
uint64_t methods_step_into_queue(struct broker *broker, struct job *job, const char *type,
    struct json *d, bool seal, const struct decision *decision, const char *cause);

/* What was assessed is what is approved, and for how long. */
struct assessment;
void methods_bind_plan(struct broker *broker, struct job *job, const struct assessment *assessment);

/* method_run.c: the approved operation->job is run as by run --execute; nobody waits for its end. */
void methods_run_own(struct operation *operation);

/* A record that goes with no change of the job. */
uint64_t methods_note(struct broker *broker, const struct job *job, const char *type,
    struct json *d);

#endif
