#ifndef PAYLOADS_H
#define PAYLOADS_H

/*
 * struct msg_<name> for each row of messages.def.  No struct has padding (messages.c
 * compiles this file with -Wpadded as an error), so no stack byte can leak to a peer.
 */
#include <stdint.h>

#include "profile.h"
#include "run.h"

/* --- to the executor ----------------------------------------------------- */

/* Descriptor: sealed memfd of fields, tags ASSESS_* in plan.h.  question: chosen by the broker, echoed. */
struct msg_program_assess { uint64_t question; };

/* Descriptor: the plan (plan.h).  digest: SHA-256 over its bytes as the broker took it. */
struct msg_run_start { struct run_name run; uint8_t digest[32]; };
struct msg_run_cancel { struct run_name run; };

/* Broker after its start: what became of this run?  Answer: RUN_LIVES, RUN_ENDED or RUN_LOST. */
struct msg_run_ask { struct run_name run; };

/* The end of this run is durable in the broker's store: do not tell it again. */
struct msg_run_collected { struct run_name run; };

/* Remove this run's folder. */
struct msg_run_prune { struct run_name run; };

struct msg_executor_welcome { uint64_t head_seq; };

/* The intent of this run with this digest is synced and sealed at seq.  Only now may it start. */
struct msg_intent_permitted { struct run_name run; uint8_t digest[32]; uint64_t seq; };
struct msg_intent_refused { struct run_name run; uint32_t code; uint32_t unused; }; /* enum record_refusal */

/* The fact that carried this token is synced (or was known before). */
struct msg_fact_recorded { uint64_t token; uint64_t seq; };

/* The keeper: the program was executed (its error pipe closed on exec). */
struct msg_job_begun { uint64_t started_us; uint64_t layers; };

/* The keeper: the cage or the exec failed; nothing of the job ran. */
struct msg_job_refused { uint32_t stage; int32_t error; };

/* The keeper: the result is in the run folder, the whole process tree is dead. */
struct msg_job_ended { struct run_end end; };

/* --- to the broker -------------------------------------------------------- */

struct msg_executor_ready {
	uint64_t layers;       /* what a job gets on this host */
	uint32_t landlock_abi;
	uint32_t slots;
	/* a job's system call filter as it is loaded; zeros: outside of the executor's bounds */
	uint8_t filter_sha256[PROFILE_COUNT][NETWORK_COUNT][32];
};

enum assess_status {
	ASSESS_OK = 0,
	ASSESS_UNAVAILABLE, /* not there, not a regular file, not readable for the submitter, too large: one answer */
	ASSESS_WORKDIR,     /* the working directory is not (or no longer) that directory */
	ASSESS_BUSY,        /* too many questions at once: ask again */
};
/* Descriptor: sealed memfd of fields, tags PLAN_PROGRAM_* and PLAN_INTERPRETER_* in plan.h; empty unless ASSESS_OK. */
struct msg_program_assessed { uint64_t question; uint32_t status; uint32_t unused; };

struct msg_run_started { struct run_name run; uint64_t started_us; uint64_t layers; };
struct msg_run_refused { struct run_name run; uint32_t stage; int32_t error; };
struct msg_run_ended { struct run_name run; struct run_end end; };
struct msg_run_lives { struct run_name run; };
struct msg_run_lost { struct run_name run; };

struct msg_broker_welcome {
	uint64_t last_sn;          /* last record of src broker in the log; UINT64_MAX: none */
	uint8_t last_body[32];     /* SHA-256 of its d */
	uint64_t last_seq;         /* where it is, and SHA-256 of its line: after a resync the broker takes */
	uint8_t last_line[32];     /* these for its newest acknowledged record */
	uint64_t head_seq;
	uint8_t head_hash[32];
	uint64_t seals;            /* number of seals so far */
	uint8_t genesis_key[32];
	uint32_t acked_known;      /* 1: the line at acked_seq has acked_hash; 0: it has not */
	uint32_t degraded;         /* 1: this filesystem does not erase in place */
	uint8_t log_key[32];       /* signs checkpoints for witnesses; see agent-safe-audit(7) */
};

struct msg_record_synced {
	uint64_t sn;
	uint64_t seq;
	uint8_t line_hash[32];
	uint32_t sealed;
	uint16_t duplicate;
	uint16_t low; /* space for the log is low: nothing new should be proposed */
};

enum record_refusal {
	REFUSAL_GAP = 1,      /* sn is not last + 1 */
	REFUSAL_EQUIVOCATION, /* another body for a known sn; the source is frozen */
	REFUSAL_INVALID,      /* the body is not a strict JSON object, or the type is not the sender's */
	REFUSAL_UNBACKED,     /* an intent without the broker's dispatch of the same (job, attempt, digest) */
	REFUSAL_FULL,         /* no space: no new work */
	REFUSAL_FROZEN,
	REFUSAL_TAKEN,        /* an intent of this very run is on record already: it may have run */
	REFUSAL_UNWITNESSED,  /* the policy wants a quorum of witnesses, and they did not cosign in time */
};
struct msg_record_refused { uint64_t sn; uint64_t expected_sn; uint32_t code; uint32_t unused; };

/* Answer to LOG_SEAL: the head is a seal, synced.  size: number of lines covered by it and itself. */
struct msg_log_sealed {
	uint64_t request;
	uint64_t size;
	uint64_t seal;
	uint8_t head_hash[32]; /* SHA-256 of the seal line */
	uint8_t root[32];      /* signed root */
	uint8_t genesis_key[32];
	uint64_t segments;     /* how many LOG_SEGMENT follow */
	uint32_t rotated;      /* 1: a new segment was begun for this order */
	uint32_t pruned;       /* 1: the first LOG_SEGMENT is the file anchors.jsonl */
};

/* Descriptor: read-only, of the index-th segment; first_seq UINT64_MAX: of anchors.jsonl. */
struct msg_log_segment { uint64_t request; uint64_t index; uint64_t first_seq; };

/*
 * Answer to LOG_PRUNE: the lines before first_seq, in this many segments, may be removed; the log
 * says so, sealed.  segments 0: nothing may, and nothing was written.
 */
struct msg_log_pruned { uint64_t request; uint64_t first_seq; uint64_t segments; };

enum witness_state {
	WITNESS_IDLE = 1,     /* nothing was given to it yet */
	WITNESS_GOOD,         /* it has taken the newest checkpoint that it was given */
	WITNESS_FAILING,      /* its command fails, hangs or says too much; detail: enum carried of the last time */
	WITNESS_WRONG,        /* its answer is no cosignature by its key */
	WITNESS_AHEAD,        /* it has cosigned more lines than this log has: the log was put back */
	WITNESS_FORKED,       /* it has cosigned another past: the log was forked, or it keeps another log's */
	WITNESS_GONE,         /* there is no courier any more */
	WITNESS_STATE_COUNT
};
/* What has become of a command of the policy.  target: 0 the export, 1 + n witness n.  size: lines it has taken. */
struct msg_witness_reported {
	uint32_t target;
	uint32_t state;    /* enum witness_state */
	uint64_t size;
	uint64_t since_us; /* wall clock: in this state since */
	uint32_t carried;  /* enum carried of the last time */
	int32_t detail;
};

/* --- to the auditor -------------------------------------------------------- */

/* next_sn: what the broker will send next; acked_*: the newest record it knows as synced. */
struct msg_broker_hello {
	uint64_t next_sn;
	uint64_t acked_sn;  /* UINT64_MAX: none */
	uint64_t acked_seq;
	uint8_t acked_hash[32];
	uint32_t resync;    /* 1: the operator ordered db resync; accept next_sn behind the log and record it */
	uint32_t unused;
};

#define RECORD_TYPE_BYTES 48 /* "job.proposed", NUL filled */

/* Descriptor: sealed memfd with the bytes of d. */
struct msg_record_append {
	uint64_t sn;
	uint32_t seal; /* 1: seal in this commit */
	uint32_t unused;
	char type[RECORD_TYPE_BYTES];
};

enum seal_want {
	SEAL_WANT_SEGMENTS = 1 << 0,  /* hand over the segments' descriptors too */
	SEAL_WANT_CHALLENGE = 1 << 1, /* record nonce as log.challenge first */
	SEAL_WANT_ROTATE = 1 << 2,    /* begin a new segment first, if there is space for one */
};
struct msg_log_seal { uint64_t request; uint32_t want; uint32_t unused; uint8_t nonce[32]; };

/* Whole segments whose lines are all older than both: put on record that they may be removed. */
struct msg_log_prune { uint64_t request; uint64_t before_seq; uint64_t before_us; };

struct msg_executor_hello { uint64_t layers; };

/* Descriptor: sealed memfd of fields, tags FACT_* in facts.h. */
struct msg_intent_declare { struct run_name run; uint8_t digest[32]; };

enum fact {
	FACT_STARTED = 1,
	FACT_REFUSED, /* after or instead of an intent */
	FACT_SIGNAL,  /* the executor was told to end it */
	FACT_ENDED,
	FACT_LOST,
};
/*
 * Descriptor: as above.  token: chosen by the executor, echoed in FACT_RECORDED.  The auditor
 * counts sn for the executor.
 */
struct msg_fact_append { uint64_t token; struct run_name run; uint32_t fact; uint32_t unused; };

/* What became of one command. */
enum carried {
	CARRIED_EXITED = 1, /* detail: status */
	CARRIED_KILLED,     /* by a signal that was not ours; detail: its number */
	CARRIED_LATE,       /* the deadline passed */
	CARRIED_LOUD,       /* more output than LIMIT_CARRIED_BYTES */
	CARRIED_UNSTARTED,  /* detail: errno */
	CARRIED_COUNT
};
/* Descriptor: sealed memfd with its standard output, at most LIMIT_CARRIED_BYTES. */
struct msg_checkpoint_carried { uint64_t errand; uint32_t target; uint32_t carried; int32_t detail; uint32_t unused; };

/* --- to the courier ---------------------------------------------------------- */

/* Descriptor: sealed memfd, the command's standard input.  One at a time for each target; errand is echoed. */
struct msg_checkpoint_carry { uint64_t errand; uint32_t target; uint32_t unused; };

/* --- to a keeper, to an init ------------------------------------------------ */

enum stop_reason { STOP_CANCEL = 1 };
struct msg_job_stop { uint32_t reason; uint32_t unused; };

/* From an executor that found the job again.  Descriptor: at its end when the present auditor is gone. */
struct msg_job_watch { uint64_t unused; };

/* Init: the program was executed; layers: what was set and read back. */
struct msg_init_started { uint64_t layers; };
/*
 * Before INIT_STARTED, only where the keeper has KEEPER_FILTERS_FD: the job's filter is loaded.
 * Descriptor: its listener (seccomp_unotify(2)).
 */
struct msg_init_filtered { uint64_t unused; };

struct msg_init_failed { uint32_t stage; int32_t error; };

/* wait(2) status and usage of the main process with all that init reaped. */
struct msg_init_ended {
	int32_t status;
	uint32_t leftovers; /* processes alive when the main one had ended */
	uint64_t user_us;
	uint64_t system_us;
	uint64_t max_rss_kb;
};

/* Once, first: the keeper is confined and watches; the job may be started. */
struct msg_init_begin { uint64_t unused; };

/* Send this signal to the main process with its group; SIGSTOP and SIGCONT to every process of the job. */
struct msg_init_signal { int32_t signal; uint32_t unused; };

#endif
