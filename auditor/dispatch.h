#ifndef DISPATCH_H
#define DISPATCH_H

/*
 * What the log says of each run: dispatched by the broker, intended by the executor, ended.  The
 * auditor permits an intent by this table, the verifier checks the log with it; both fill it
 * from the records alone, so it needs no memory of its own.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record.h"

#define DISPATCH_RUNS 4096     /* remembered; runs in progress are the last to be forgotten */
#define DISPATCH_APPROVAL_BYTES (1u << 19)

enum dispatch_state {
	DISPATCH_NONE,
	DISPATCH_OPEN,    /* dispatched, no intent yet */
	DISPATCH_INTENT,  /* its intent is on record: it may have run */
	DISPATCH_STARTED,
	DISPATCH_ENDED,
};

struct dispatch_run {
	uint8_t job[16];     /* of SHA-256 of d.job */
	uint8_t digest[32];  /* SHA-256 of d.spec_sha256 */
	uint64_t attempt;
	uint64_t seq;        /* of the last record that moved it */
	enum dispatch_state state;
	bool has_output;     /* its exec.output is on record, */
	uint8_t output[32];  /* and what that says of the streams, as one digest */
};

struct dispatch {
	struct dispatch_run runs[DISPATCH_RUNS];
	size_t newest;
	/*
	 * Which jobs were ever approved, in constant memory: a Bloom filter of four probes.  It never
	 * forgets an approval; among 400,000 approved jobs it believes one in 100 that was not given.
	 */
	uint8_t approved[DISPATCH_APPROVAL_BYTES];
};

/*
 * NULL, or why the record contradicts what came before: an intent that nobody dispatched or approved,
 * an end whose output is another than the one on record.
 */
const char *dispatch_follow(struct dispatch *dispatch, const struct record *record);

/* The run, or NULL.  job: as in d, a UUID's text. */
const struct dispatch_run *dispatch_find(const struct dispatch *dispatch, const char *job, uint64_t attempt);

/* Is the job approved, and is there an open dispatch of exactly this?  spec_sha256: 64 hex digits. */
bool dispatch_permits(const struct dispatch *dispatch, const char *job, uint64_t attempt, const char *spec_sha256);

/* How many runs have an intent and no end. */
size_t dispatch_running(const struct dispatch *dispatch);

#endif
