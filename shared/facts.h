#ifndef FACTS_H
#define FACTS_H

/*
 * What the executor tells the auditor (INTENT_DECLARE, FACT_APPEND), as fields.  The auditor
 * composes the JSON of d from them (auditor/compose.c); the executor never writes JSON.
 *
 *   INTENT_DECLARE  all FACT_ARG, FACT_CWD, FACT_ENV_SHA256, FACT_UID, FACT_PROGRAM_*, FACT_PROFILE,
 *                   FACT_NETWORK, any FACT_ARG_SECRET, FACT_POLICY_SHA256, FACT_LIMITS
 *   FACT_STARTED    FACT_TIME_US, FACT_LAYERS, FACT_LANDLOCK_ABI, FACT_FILTER_SHA256,
 *                   FACT_LANDLOCK_HANDLED
 *   FACT_REFUSED    FACT_STAGE, FACT_ERROR
 *   FACT_SIGNAL     FACT_SIGNAL_NUMBER
 *   FACT_ENDED      FACT_END; with OUTCOME_VIOLATED also FACT_DETAIL: what was found
 *   FACT_LOST       FACT_DETAIL
 */
#include <stdint.h>

#define FACTS_MAGIC "ASFACT01"
#define FACT_NETWORK_BYTES 256 /* with its NUL: 32 ports of five digits fit */

enum fact_tag {
	FACT_ARG = 1,         /* many: argv elements */
	FACT_CWD,             /* text */
	FACT_ENV_SHA256,      /* 32 bytes: over the PLAN_ENV values, each with a NUL after it */
	FACT_UID,             /* u64: the job's uid */
	FACT_PROGRAM_TARGET,  /* text */
	FACT_PROGRAM_DEV,     /* u64 */
	FACT_PROGRAM_INO,     /* u64 */
	FACT_PROGRAM_SHA256,  /* 32 bytes */
	FACT_PROFILE,         /* text */
	FACT_TIME_US,         /* u64: CLOCK_REALTIME */
	FACT_LAYERS,          /* u64: enum layer */
	FACT_LANDLOCK_ABI,    /* u64 */
	FACT_FILTER_SHA256,   /* 32 bytes: the loaded seccomp program */
	FACT_STAGE,           /* u64: enum stage */
	FACT_ERROR,           /* u64: errno */
	FACT_SIGNAL_NUMBER,   /* u64 */
	FACT_END,             /* struct run_end */
	FACT_DETAIL,          /* text: what is known */
	FACT_NETWORK,         /* text: "none", "loopback", "tcp-ports 53 443" */
	FACT_LANDLOCK_HANDLED, /* 3 u64: rights of files, of the network, scopes, as the kernel numbers them */
	FACT_ARG_SECRET,      /* many, u64, rising: this FACT_ARG is the HMAC of the element, as 64 hex digits */
	FACT_POLICY_SHA256,   /* 32 bytes: of the policy that the plan was made under */
	FACT_LIMITS,          /* struct fact_limits */
	FACT_TAG_END
};

/* The limits of a run, as in plan.h; 0: none. */
struct fact_limits {
	uint64_t timeout_ms, grace_ms, keep_bytes, output_bytes, file_bytes, cpu_seconds, open_files, processes,
	    memory_bytes, tmp_bytes, idle_ms, cpu_percent;
};

#endif
