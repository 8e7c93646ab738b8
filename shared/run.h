#ifndef RUN_H
#define RUN_H

/*
 * What every room says about one run of one job: its name, its stages, its end.
 * All structs here travel in messages or lie in a run folder: no padding, host byte order.
 */
#include <stdint.h>

/* One attempt of one job in one slot.  job: the 16 bytes of its UUID.  attempt: 1, 2, ... */
struct run_name {
	uint8_t job[16];
	uint32_t attempt;
	uint32_t slot;
};

enum outcome {
	OUTCOME_SUCCEEDED = 1, /* exit code 0 */
	OUTCOME_EXITED,        /* another exit code */
	OUTCOME_SIGNALLED,     /* ended by a signal that was not ours */
	OUTCOME_TIMED_OUT,
	OUTCOME_CANCELLED,
	OUTCOME_OOM,
	OUTCOME_LIMIT,         /* CPU time (END_CPU_TIME), file size (signal XFSZ) or output bound (else) */
	OUTCOME_REFUSED,       /* a cage could not be built; nothing of the job ran */
	OUTCOME_LOST,          /* nobody knows how it ended */
	OUTCOME_VIOLATED,      /* it made a protected path, whatever else it did */
	OUTCOME_COUNT
};

/* Where a run was refused.  The name goes into errors and the log, see stage_name(). */
enum stage {
	STAGE_NONE,
	STAGE_PLAN,      /* the plan's bytes, digest or bounds */
	STAGE_WORKDIR,   /* the working directory is not what was approved */
	STAGE_PROGRAM,   /* the program is not what was approved */
	STAGE_AUDIT,     /* no sealed record, no run */
	STAGE_CGROUP,
	STAGE_NAMESPACE,
	STAGE_MOUNT,
	STAGE_PROC,
	STAGE_LIMITS,
	STAGE_IDENTITY,  /* capabilities, groups, uid */
	STAGE_LANDLOCK,
	STAGE_SECCOMP,
	STAGE_KEEPER,
	STAGE_EXEC,      /* the kernel refused the program itself */
	STAGE_MINIMUM,   /* a layer that the policy wants is not in force */
	STAGE_STOPPED,   /* the executor ended before it had begun anything of the job */
	STAGE_PROTECT,   /* what is protected in the workspace is too much, or cannot be looked through */
	STAGE_COUNT
};

/* Layers in force, as bits; every result and record carries them. */
enum layer {
	LAYER_USER_NAMESPACE = 1 << 0,
	LAYER_PID_NAMESPACE = 1 << 1,
	LAYER_MOUNT_NAMESPACE = 1 << 2,
	LAYER_NETWORK_NAMESPACE = 1 << 3,
	LAYER_IPC_NAMESPACE = 1 << 4,
	LAYER_UTS_NAMESPACE = 1 << 5,
	LAYER_CGROUP_NAMESPACE = 1 << 6,
	LAYER_OWN_UID = 1 << 7,     /* a uid that nothing else on the host runs under */
	LAYER_IDMAP = 1 << 8,
	LAYER_NO_GROUPS = 1 << 9,
	LAYER_NO_CAPABILITIES = 1 << 10,
	LAYER_NO_NEW_PRIVS = 1 << 11,
	LAYER_LANDLOCK = 1 << 12,
	LAYER_SECCOMP = 1 << 13,
	LAYER_RLIMITS = 1 << 14,
	LAYER_CGROUP = 1 << 15,     /* own cgroup, ended by cgroup.kill */
	LAYER_CGROUP_MEMORY = 1 << 16,
	LAYER_CGROUP_PIDS = 1 << 17,
	LAYER_CGROUP_CPU = 1 << 18,
	LAYER_COUNT = 19
};

enum end_flag {
	END_CORE_DUMPED = 1 << 0,     /* wait status said so; no core is ever written */
	END_LEFTOVERS = 1 << 1,       /* processes outlived the main one and were killed */
	END_FORCED = 1 << 2,          /* TERM was not enough */
	END_CAPTURE_FAULT = 1 << 3,   /* output could not be stored; counts and digests still hold */
	END_IDLE = 1 << 4,            /* timed out because it wrote nothing for too long */
	END_PROCESSES = 1 << 5,       /* a process could not be made for the limit of its cgroup */
	END_CPU_TIME = 1 << 6,        /* OUTCOME_LIMIT: the limit was that of CPU time */
};

/* What was masked in output.  The name goes into the log, see masked_name(). */
enum masked {
	MASKED_TOKEN,         /* known by how it begins (secrets.def) */
	MASKED_JWT,
	MASKED_AUTHORIZATION, /* a header's, or "bearer ..." */
	MASKED_URL_PASSWORD,
	MASKED_PRIVATE_KEY,   /* each piece of a block that was masked on its own */
	MASKED_NAMED,         /* what stands behind a name that says secret or password */
	MASKED_EXACT,         /* an argument of the job that an operator let pass (secret.override) */
	MASKED_COUNT
};

/*
 * One output stream.  Digest and count are of every byte the job wrote; stored_* of what was kept
 * after masking and cutting.
 */
struct stream_end {
	uint64_t bytes;
	uint64_t stored_bytes;
	uint64_t head_bytes; /* length of the kept head; where it is < stored_bytes, bytes are missing there */
	uint64_t redactions;
	uint64_t masked[MASKED_COUNT]; /* the redactions by kind */
	uint8_t sha256[32];
	uint8_t stored_sha256[32];
};

/* How a run ended.  Times: microseconds; started and ended of CLOCK_REALTIME, duration of CLOCK_MONOTONIC. */
struct run_end {
	uint32_t outcome;   /* enum outcome */
	int32_t exit_code;  /* -1 unless it exited */
	int32_t signal;     /* 0 unless a signal ended it */
	uint32_t stage;     /* enum stage, when refused */
	int32_t error;      /* errno, when refused */
	uint32_t flags;     /* enum end_flag */
	uint64_t started_us;
	uint64_t ended_us;
	uint64_t duration_us;
	uint64_t user_us;
	uint64_t system_us;
	uint64_t max_rss_kb;
	uint64_t memory_peak; /* bytes, 0: not known */
	uint64_t layers;      /* enum layer */
	uint64_t denied;      /* system calls that were refused; 0 also where nobody counts (profile.h) */
	uint8_t denied_sha256[32]; /* of the file KEEP_DENIED; zeros: there is none */
	struct stream_end out;
	struct stream_end err;
};

/*
 * The file `result` in a run folder, written whole under another name, synced,
 * renamed.  The folder is runs/<slot>/<job uuid>.<attempt>; beside it lie
 * `out` and `err` (what was kept of the output) and, once the broker has the
 * end in its store, the empty file `collected`.
 */
#define RUN_RESULT_MAGIC "ASRUN003"
struct run_result {
	char magic[8];
	struct run_name run;
	uint8_t digest[32]; /* of the plan */
	struct run_end end;
};

#define RUN_FOLDER_BYTES 64 /* "<uuid>.<attempt>" and its NUL */

/* "uuid.attempt"; writes at most RUN_FOLDER_BYTES with the NUL. */
void run_folder(const struct run_name *run, char text[RUN_FOLDER_BYTES]);

/* Names as they stand in JSON: "timed_out", "landlock", "pid_namespace"; never NULL. */
const char *outcome_name(uint32_t outcome);
const char *stage_name(uint32_t stage);
const char *masked_name(unsigned kind); /* kind: enum masked */
const char *layer_name(unsigned bit); /* bit: 0 .. LAYER_COUNT-1 */

_Static_assert(sizeof(struct run_name) == 24, "no padding");
_Static_assert(sizeof(struct stream_end) == 96 + 8 * MASKED_COUNT, "no padding");
_Static_assert(sizeof(struct run_end) == 24 + 9 * 8 + 32 + 2 * sizeof(struct stream_end), "no padding");
_Static_assert(sizeof(struct run_result) == 8 + 24 + 32 + sizeof(struct run_end), "no padding");

#endif
