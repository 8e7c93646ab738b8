#ifndef PLAN_H
#define PLAN_H

/*
 * The plan: everything that an approval covers, as fields (fields.h), in exactly this order.
 * The broker encodes it (broker/plan.c), the executor decodes it (executor/plan.c); both take
 * SHA-256 over the very same bytes, and that digest is what a person approves.
 * Job, attempt and slot are not in it: one approval covers a run and its automatic retries.
 *
 * "once" fields must be there exactly once, "many" any number of times, "opt" at most once.
 */
#include <stdint.h>

#define PLAN_MAGIC "ASPLAN01"

enum plan_tag {
	PLAN_POLICY_SHA256 = 1,   /* once, 32 bytes: digest of the loaded policy file's bytes */
	PLAN_PROFILE,             /* once, text: "default" */
	PLAN_ROOT,                /* once, text: the policy's root that holds the working directory, canonical */
	PLAN_CWD,                 /* once, text: canonical; equal to the root or below it */
	PLAN_CWD_DEV,             /* once, u64: st_dev */
	PLAN_CWD_INO,             /* once, u64 */
	PLAN_CWD_BIRTH_NS,        /* once, u64: statx btime in ns since the epoch, 0 where the filesystem has none */
	PLAN_CWD_HANDLE,          /* once, bytes: i32le type + name_to_handle_at(2) bytes; empty where there is none */
	PLAN_ARG,                 /* many, at least 1: argv, any bytes but NUL */
	PLAN_ENV,                 /* many: "NAME=value" */

	PLAN_PROGRAM_NAMED,       /* once, text: canonical directory + last component as named */
	PLAN_PROGRAM_TARGET,      /* once, text: all links resolved */
	PLAN_PROGRAM_KIND,        /* once, u64: enum program_kind */
	PLAN_PROGRAM_DEV,         /* once, u64 */
	PLAN_PROGRAM_INO,         /* once, u64 */
	PLAN_PROGRAM_SIZE,        /* once, u64 */
	PLAN_PROGRAM_SHA256,      /* once, 32 bytes */

	PLAN_INTERPRETER_NAMED,   /* opt: a "#!" program's interpreter; all seven or none */
	PLAN_INTERPRETER_TARGET,
	PLAN_INTERPRETER_KIND,
	PLAN_INTERPRETER_DEV,
	PLAN_INTERPRETER_INO,
	PLAN_INTERPRETER_SIZE,
	PLAN_INTERPRETER_SHA256,

	PLAN_TIMEOUT_MS,          /* once, u64 each from here on */
	PLAN_GRACE_MS,            /* between TERM and KILL */
	PLAN_KEEP_BYTES,          /* kept of each output stream, head and tail together */
	PLAN_OUTPUT_BYTES,        /* both streams together; 0: no limit */
	PLAN_FILE_BYTES,          /* RLIMIT_FSIZE; 0: no limit */
	PLAN_CPU_SECONDS,         /* RLIMIT_CPU; 0: no limit */
	PLAN_OPEN_FILES,          /* RLIMIT_NOFILE */
	PLAN_PROCESSES,           /* pids.max where there is one, RLIMIT_NPROC always */
	PLAN_MEMORY_BYTES,        /* memory.max where there is one; 0: no limit */
	PLAN_TMP_BYTES,           /* size of /tmp and /dev/shm together */
	PLAN_AUDIT_LOSS,          /* opt: enum audit_loss; not there: AUDIT_LOSS_LATER */
	PLAN_RETRY_SAFE,          /* opt: 1: a run of which nobody knows how it ended may be repeated */
	PLAN_NETWORK,             /* opt: enum network of profile.h; not there: NETWORK_NONE */
	PLAN_TCP_PORT,            /* many, u64, rising: with NETWORK_TCP_PORTS, at least 1: where it may connect */
	PLAN_READ_PATH,           /* many, text: canonical; shown read-only at its own path */
	PLAN_WRITE_PATH,          /* many, text: canonical; shown writable at its own path */
	PLAN_IDLE_MS,             /* opt: no output for this long ends it; not there: no limit */
	PLAN_CPU_PERCENT,         /* opt: of one processor, cpu.max where there is one; not there: no limit */
	PLAN_MINIMUM,             /* opt: enum layer of run.h, as bits: without one of them it does not run */
	PLAN_STDIN,               /* opt, bytes, not empty: what the job reads; not there: nothing */
	PLAN_SECRET_KEY,          /* opt, 32 bytes: for the HMAC of such elements; with PLAN_SECRET or not at all */
	PLAN_SECRET,              /* many, struct plan_secret: an operator let it pass, and nobody shows it */
	PLAN_TAG_END
};

/*
 * A secret in argv: bytes [at, at + length) of that element, which is not the first; one line of at
 * most LIMIT_SECRET_BYTES, and at most LIMIT_SECRETS of them.
 */
struct plan_secret {
	uint32_t element, at, length;
};

/* What a keeper does with its job when the auditor is gone. */
enum audit_loss {
	AUDIT_LOSS_LATER,         /* go on for 10 s, then freeze it until there is an auditor again */
	AUDIT_LOSS_CONTINUE,
	AUDIT_LOSS_FREEZE,
	AUDIT_LOSS_KILL,
	AUDIT_LOSS_COUNT
};

enum program_kind {
	PROGRAM_PINNED = 1, /* root owns it and every directory above, nobody else can write: run in place */
	PROGRAM_COPIED,     /* anything else: copied, the copy hashed and mounted read-only over its path */
};

/*
 * What the broker asks before it decides (PROGRAM_ASSESS) and what it hears (PROGRAM_ASSESSED).
 * The answer: magic ASSESS_ANSWER_MAGIC, then the PLAN_PROGRAM_* and PLAN_INTERPRETER_* fields as
 * above, then for each ASSESS_RULE_PROGRAM, in order, ASSESS_RULE_NAMED and ASSESS_RULE_TARGET
 * interleaved as one field ASSESS_RULE_RESOLVED: named NUL target, or empty if it is not there.
 */
#define ASSESS_QUESTION_MAGIC "ASQUES01"
#define ASSESS_ANSWER_MAGIC "ASANSW01"

enum assess_tag {
	ASSESS_ROOT = 1,          /* once, text: policy root */
	ASSESS_CWD,               /* once, text */
	ASSESS_CWD_DEV,           /* once, u64 */
	ASSESS_CWD_INO,           /* once, u64 */
	ASSESS_CWD_BIRTH_NS,      /* once, u64: as PLAN_CWD_BIRTH_NS */
	ASSESS_CWD_HANDLE,        /* once, bytes: as PLAN_CWD_HANDLE */
	ASSESS_PROGRAM,           /* once, text: argv[0] */
	ASSESS_PATH,              /* once, text: absolute directories joined by ':' for a bare name */
	ASSESS_RULE_PROGRAM,      /* many, text: bare or absolute */
	ASSESS_RULE_RESOLVED = 100
};

#endif
