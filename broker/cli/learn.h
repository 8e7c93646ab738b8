#ifndef LEARN_H
#define LEARN_H

/*
 * From what was seen of finished debug runs to a rule that a person may adopt.  Each line of the
 * rule comes with a remark that says what it rests on.
 */
#include <stdbool.h>
#include <stdint.h>

#include "profile.h"
#include "trace.h"

struct json;

#define LEARN_RUNS 16

/* What is known of all runs together. */
struct learn {
	const struct json *jobs[LEARN_RUNS]; /* as job.get gives them; the caller's */
	size_t count;
	const struct json *command; /* an array: what ran, without strace(1) before it */
	size_t command_from;        /* its first element that is the program */
	const struct trace *trace;  /* NULL: none was given */
};

/* One remark for standard error: ours and of the job, escaped by whoever prints it. */
typedef void learn_remark(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Where the program's own words begin in argv: behind "strace ... --"; json_count(): cannot be told. */
size_t learn_program(const struct json *command);
bool learn_is_traced(const struct json *command);

/* The rule, the caller's. */
struct json *learn_rule(const struct learn *learn, learn_remark *remark);

/* --- learn_paths.c --- */

/* read_paths and write_paths into cage; true: something is to be written. */
bool learn_paths(const struct learn *learn, struct json *cage, learn_remark *remark);

#endif
