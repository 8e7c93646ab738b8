#ifndef DECODE_H
#define DECODE_H

/*
 * The plan's one decoder: bytes that the broker wrote (shared/plan.h) to a struct, or a refusal.
 * Pure: no call into the world, so that it can be fuzzed.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "limits.h"
#include "plan.h"
#include "profile.h"
#include "tcp_ports.h"

#define DECODE_HANDLE_BYTES 132 /* i32le type and MAX_HANDLE_SZ of Linux */

/* A program or an interpreter as it was approved, or as it was found. */
struct program {
	char named[LIMIT_PATH], target[LIMIT_PATH];
	uint64_t kind; /* enum program_kind; 0: there is none */
	uint64_t dev, ino, size;
	uint8_t sha256[32];
};

/* A path that is shown beside the root. */
struct plan_extra {
	const char *path; /* clean */
	bool write;
};

struct field;

struct plan {
	uint8_t policy_sha256[32];
	enum profile profile;
	char root[LIMIT_PATH], cwd[LIMIT_PATH];
	uint64_t cwd_dev, cwd_ino, cwd_birth_ns;
	uint8_t cwd_handle[DECODE_HANDLE_BYTES];
	size_t cwd_handle_length;
	char **argv, **envp; /* NULL-ended, ready for exec */
	size_t argc, envc;
	struct program program, interpreter;
	uint64_t timeout_ms, grace_ms, keep_bytes, output_bytes;
	uint64_t audit_loss; /* enum audit_loss */
	uint64_t retry_safe; /* the broker's business; covered by the digest all the same */
	enum network network;
	struct tcp_ports ports;
	uint64_t file_bytes, cpu_seconds, open_files, processes, memory_bytes, tmp_bytes;
	uint64_t idle_ms, cpu_percent, minimum; /* 0: none */
	struct plan_extra extras[LIMIT_EXTRAS]; /* in the plan's order */
	size_t extra_count;
	const char *input; /* PLAN_STDIN; NULL: there is none */
	size_t input_length;
	const uint8_t *secret_key; /* PLAN_SECRET_KEY; NULL: there are no secrets */
	struct plan_secret secrets[LIMIT_SECRETS];
	size_t secret_count;
	char *memory; /* of the vectors, paths and the input */
};

/*
 * False when the bytes are not exactly a plan within limits.h; then nothing is held.
 * On success free with decode_free().  plan: large, keep it off the stack.
 */
bool decode_plan(struct plan *plan, const void *bytes, size_t length);
void decode_free(struct plan *plan);

/* The file handle of the working directory: empty, or a type and its bytes. */
bool decode_handle(struct plan *plan, const struct field *field);

#endif
