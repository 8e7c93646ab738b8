#ifndef KEEP_H
#define KEEP_H

/*
 * What the executor hands to a job's keeper: descriptors at fixed places and, at KEEPER_ORDERS_FD,
 * a sealed memfd of fields.  A place that does not apply holds /dev/null.
 */
#include "run.h"

enum {
	KEEPER_ORDERS_FD = 3,
	KEEPER_EXECUTOR_FD = 4,      /* SEQPACKET; its end is not the job's end */
	KEEPER_INIT_FD = 5,          /* SEQPACKET to pid 1 of the job; init ends when it closes */
	KEEPER_OUT_FD = 6,           /* read end of the job's standard output */
	KEEPER_ERR_FD = 7,
	KEEPER_FOLDER_FD = 8,        /* the run folder, O_RDONLY|O_DIRECTORY; the keeper may create files in it */
	KEEPER_INIT_PIDFD = 9,
	KEEPER_CGROUP_KILL_FD = 10,  /* cgroup.kill, O_WRONLY */
	KEEPER_CGROUP_EVENTS_FD = 11, /* cgroup.events, O_RDONLY */
	KEEPER_MEMORY_EVENTS_FD = 12, /* memory.events, O_RDONLY */
	KEEPER_MEMORY_PEAK_FD = 13,   /* memory.peak, O_RDONLY */
	KEEPER_CGROUP_FREEZE_FD = 14, /* cgroup.freeze, O_WRONLY */
	KEEPER_AUDITOR_FD = 15,       /* at its end when the auditor is gone (EXECUTOR_LIFE_FD) */
	KEEPER_PIDS_EVENTS_FD = 16,   /* pids.events, O_RDONLY */
	KEEPER_FILTERS_FD = 17,       /* sealed memfd of fields, below: the keeper shall tell what is denied */
	KEEPER_FD_COUNT
};

#define KEEP_MAGIC "ASKEEP01"

enum keep_tag {
	KEEP_RUN = 1,        /* struct run_name */
	KEEP_DIGEST,         /* 32 bytes: the plan's */
	KEEP_TIMEOUT_MS,     /* u64 each */
	KEEP_GRACE_MS,
	KEEP_KEEP_BYTES,     /* of each stream, head and tail together */
	KEEP_OUTPUT_BYTES,   /* both streams; 0: no limit */
	KEEP_EXECUTOR_UID,   /* who may connect to keeper.sock */
	KEEP_INIT_PID,
	KEEP_AUDIT_LOSS,     /* u64: enum audit_loss of plan.h */
	KEEP_IDLE_MS,        /* u64: no output for this long ends it; 0: no limit */
	KEEP_CPU_SECONDS,    /* u64: of one process; 0: no limit */
	KEEP_FILE_BYTES,     /* u64: of one file; 0: no limit */
	KEEP_SECRET,         /* many, at most LIMIT_SECRETS: a line that must not be kept of its output */
	KEEP_TAG_END
};

/*
 * KEEPER_FILTERS_FD: what each profile's filter answers, as the kernel's own programs, so that the
 * keeper gives a refused call the very errno that it would get under a filter which tells nobody.
 */
#define FILTERS_MAGIC "ASFILT01"
#define FILTERS_BYTES (512u << 10) /* ten programs at the kernel's bound (BPF_MAXINSNS), with room */

enum filters_tag {
	FILTERS_PROFILE = 1, /* once, u64: enum profile of profile.h, the one the job runs under */
	FILTERS_PROGRAM,     /* many: u64 enum profile, then struct sock_filter; a profile's programs in the
	                        order in which they would be loaded, at most FILTERS_EACH */
};
#define FILTERS_EACH 2

/* Files in a run folder, all 0640, made with O_EXCL|O_NOFOLLOW. */
#define KEEP_RESULT "result"       /* struct run_result; appears by rename from result.new */
#define KEEP_OUT "out"             /* kept output, masked; head then tail (stream_end.head_bytes) */
#define KEEP_ERR "err"
#define KEEP_DENIED "denied"       /* denied.h; only where the keeper has KEEPER_FILTERS_FD */
#define KEEP_SOCKET "keeper.sock"  /* SEQPACKET listener of the living keeper */
/* By the executor, before anything of the job is made, and durable before it runs: protected paths as they were
 * (protect.h, nested.h); flock()ed by the living keeper. */
#define KEEP_BEGUN "begun"
#define KEEP_PROTECTED "protected" /* by the executor: what was covered below the root, a path in each line */
#define KEEP_RECORDED "recorded"   /* by the executor, of "begun": told to the auditor */
#define KEEP_COLLECTED "collected" /* by the executor, of "recorded": told to auditor and broker */
#define KEEP_LOCK "lock"           /* of an earlier release: what was locked, and */
#define KEEP_WATCHED "watched"     /* where the protected paths were */
#define KEEP_CAGE "cage"           /* by the executor: the cage in words, see cage_text.h */
#define KEEP_VIOLATED "violated"   /* by the executor: what became of them, lines of text */

#endif
