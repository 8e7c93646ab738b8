#ifndef PLAN_SOURCE_H
#define PLAN_SOURCE_H

/*
 * The broker's side of the plan (layout: shared/plan.h): what it is made from, and how the
 * executor's answer about a program is read.  Pure.  Functions: broker/plan.c.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fields.h"
#include "limits.h"
#include "plan.h"
#include "policy.h"

struct plan_source {
	const uint8_t *policy_sha256;  /* 32 bytes */
	const struct policy_cage *cage;
	const char *root, *cwd;
	uint64_t cwd_dev, cwd_ino, cwd_birth_ns;
	const unsigned char *cwd_handle; /* as PLAN_CWD_HANDLE; may be empty */
	size_t cwd_handle_length;
	const char *const *argv;
	const size_t *arg_lengths;     /* bytes, without a NUL */
	size_t argc;
	const char *const *environment; /* "NAME=value" */
	size_t environment_count;
	const unsigned char *answer;   /* the executor's fields of PROGRAM_ASSESSED, as they came */
	size_t answer_length;
	uint64_t audit_loss;           /* enum audit_loss */
	bool retry_safe;
	const unsigned char *input;    /* standard input, at most LIMIT_STDIN_BYTES */
	size_t input_length;           /* 0: none */
	const uint8_t *secret_key;     /* 32 bytes; NULL: there are none */
	const struct plan_secret *secrets;
	size_t secret_count;           /* at most LIMIT_SECRETS */
	uint64_t timeout_ms;
	const struct policy_limits *limits;
};

/*
 * The plan's bytes into *writer, which the caller frees in every case.  False, and the writer is
 * failed, when a value is outside the bounds of limits.h, the working directory is not below the
 * root, a text is not what its field may hold, or the answer is not exactly one.
 */
bool plan_encode(const struct plan_source *source, struct fields_writer *writer);

/* One resolved program, as the executor saw it. */
struct plan_program {
	char named[LIMIT_PATH], target[LIMIT_PATH];
	uint64_t kind; /* enum program_kind */
	uint64_t dev, ino, size;
	uint8_t sha256[32];
};

struct plan_answer {
	struct plan_program program;
	bool has_interpreter;
	struct plan_program interpreter;
	/* in the order of the question; named[0] == 0: not there */
	struct policy_program *rule_programs;
	size_t rule_program_count;
};

/* False when the bytes are not exactly an answer.  plan_free_answer() in every case. */
bool plan_read_answer(const void *bytes, size_t length, struct plan_answer *answer);
void plan_free_answer(struct plan_answer *answer);

#endif
