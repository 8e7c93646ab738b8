/*
 * gcc's own <limits.h> looks for the C library's by #include_next, and with -iquote meets this
 * file of the same name first: pass it on.
 */
#ifdef _GCC_NEXT_LIMITS_H
#include_next <limits.h>
#elif !defined(LIMITS_H)
#define LIMITS_H

/* Every size, count and time that bounds something, with its reason. */

#define LIMIT_PATH 4096            /* PATH_MAX of Linux, with the NUL */
#define LIMIT_ORIGIN 512           /* host/ID; an ID is at most 200 bytes */
#define LIMIT_PROFILE 16           /* "default", "strict", ... */
#define LIMIT_SLOTS 64             /* jobs that run at once; 16 unless the policy says otherwise */
#define LIMIT_SLOTS_DEFAULT 16
#define LIMIT_ROOTS 64             /* policy roots; each costs one mount per slot */
#define LIMIT_TCP_PORTS 32         /* of one rule, and of all rules together */

#define LIMIT_EXTRAS 32            /* read_paths and write_paths of one plan */
#define LIMIT_CPU_PERCENT 102400   /* of one processor: 1024 of them */

#define LIMIT_FIELDS_BYTES (4u << 20) /* a plan: argv and environment at their bounds, with room */
#define LIMIT_RECORD_BYTES 65536   /* one line of the log with its newline (agent-safe-audit(7)) */
#define LIMIT_RECORD_BODY (LIMIT_RECORD_BYTES - 512) /* d: the header is shorter than 512 bytes */

#define LIMIT_LINE_BYTES (1u << 20) /* one JSON-RPC message with its newline */
#define LIMIT_CLIENTS 128          /* connections at once, both sockets together */
#define LIMIT_PROPOSERS (LIMIT_CLIENTS - 16) /* on propose.sock, so that control.sock is never full of them */
#define LIMIT_PROPOSERS_OF_UID (LIMIT_CLIENTS / 2) /* of one user, so that one alone never fills it */
#define LIMIT_CLIENT_IDLE_MS 60000 /* a quiet connection makes room for a new one when all are taken */
#define LIMIT_RATE 50              /* job.submit and audit.head a second of one user on propose.sock, */
#define LIMIT_RATE_BURST 500       /* root excepted: each is a record of the log, also when it is refused */
#define LIMIT_JSON_DEPTH 32
#define LIMIT_JSON_MEMBERS 4096    /* of one object: cJSON looks a member up in O(n) */

#define LIMIT_ARG_COUNT 4096       /* argv elements */
#define LIMIT_ARG_BYTES 131071     /* one element: MAX_ARG_STRLEN of Linux less the NUL */
#define LIMIT_ARGV_BYTES (512u << 10) /* all elements: the base64 form still fits a JSON-RPC line */
#define LIMIT_STDIN_BYTES (128u << 10) /* of a hook: one record of the log and what is said around it */
#define LIMIT_ENV_COUNT 256
#define LIMIT_ENV_BYTES (128u << 10)
#define LIMIT_KEY_BYTES 200        /* idempotency key, as in the first system's MCP */
#define LIMIT_BY_BYTES 200
#define LIMIT_REASON_BYTES 2000
#define LIMIT_LABEL_BYTES 100
#define LIMIT_META_BYTES 512 /* what a caller says of its call: recorded, never believed */
#define LIMIT_PENDING 1000         /* unfinished jobs of one submitter */

#define LIMIT_SECRETS 16           /* values in one argv that an operator lets pass; each is looked for in its output */
#define LIMIT_SECRET_BYTES 1024    /* one of them: the redactor holds back more than that */

#define LIMIT_GROUPS 64            /* of a policy; each is looked through at every claim */

#define LIMIT_HOOKS 16             /* of a policy: each may be one more run for every event */
#define LIMIT_HOOKS_WAITING 64     /* runs of hooks that wait; what happens beyond is only counted */
#define LIMIT_HOOK_SECONDS 300     /* one hook runs at a time: a slow one holds up all others */

#define LIMIT_TIMEOUT_SECONDS 86400
#define LIMIT_ATTEMPTS 20

#define LIMIT_WITNESSES 8          /* of a policy; each gets every checkpoint */
#define LIMIT_COMMAND_BYTES 4096   /* argv of one command of the policy, each element with its NUL */
#define LIMIT_COMMAND_ARGS 64
#define LIMIT_COMMAND_SECONDS 300  /* the most that a policy may give a command, or a run that waits for it */
#define LIMIT_CARRIED_BYTES 65536  /* what is taken of a command's output: a cosignature has 200 bytes */

#define LIMIT_PROGRAM_BYTES (512u << 20) /* a program that is hashed or copied */
#define LIMIT_ASSESS_MS 10000      /* to resolve and hash one program */
#define LIMIT_RECORD_MS 10000      /* a client waits for its record; a sync of a busy disk takes less */
#define LIMIT_GRACE_MS 5000        /* between TERM and KILL */
#define LIMIT_POLICY_BYTES (1u << 20)
#define LIMIT_IDLE_MS 600000       /* without client, running or timed job: a workspace's trio ends */

#endif
