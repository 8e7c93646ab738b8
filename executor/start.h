#ifndef START_H
#define START_H

/* From RUN_START to a job's midwife: plan, bounds, directory and program, intent. */
#include "attempt.h"
#include "nested.h"
#include "places.h"
#include "program.h"
#include "protect.h"

/* What was found before the intent, by a child in shared memory. */
struct start_findings {
	uint32_t stage; /* STAGE_NONE: all as approved */
	int32_t error;
	bool local;     /* all that was looked at lies on local filesystems (local.h) */
	struct program_found program;
	uint32_t protect_count;
	struct protect protect[PLACES_MOST]; /* of the root, and of write paths that are directories */
	struct nested nested; /* what lies below them */
};

/* A plan came; plan_fd stays the caller's. */
void start_attempt(struct executor *executor, const struct msg_run_start *order, int plan_fd);

/* What a job gets on this host, its cgroup's layers with it. */
uint64_t start_layers(const struct executor *executor);

/* The auditor has it on record: bear the job. */
void start_permitted(struct attempt *attempt);

#endif
