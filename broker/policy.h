#ifndef POLICY_H
#define POLICY_H

/*
 * The policy: what may be approved at all.  Pure: bytes in, verdicts out; no file is opened here.
 *
 * Version 1 is the first system's file:
 *   allowed_commands [{program, args_prefix}], allowed_working_roots, denied_arguments,
 *   environment_allowlist, max_timeout_seconds, max_output_chars.
 * Version 2 (unknown keys are refused everywhere; what is not enforced yet is refused by name):
 *   rules                  [rule]
 *   allowed_working_roots  ["dir" | {path, shared, root_owned, read_only, nested, run_as}]
 *   path                   ["/usr/bin", ...] where bare program names are looked up
 *   environment            {"NAME": "value"} given to every job
 *   environment_allowlist  ["NAME"] that a caller may set
 *   limits                 {timeout_seconds grace_seconds keep_bytes output_bytes file_bytes
 *                           cpu_seconds cpu_percent idle_seconds open_files processes
 *                           memory_bytes tmp_bytes}
 *   cage                   {profile read_paths write_paths minimum network}
 *   approvals              {expires_seconds}
 *   secrets                {override}
 *   audit                  {export_command witnesses quorum require deadline_seconds}
 *   queue                  {slots workers groups on_audit_loss hooks}
 *   rule: program args effect reason match not_match digests cage limits
 *
 * A rule's program is a bare name or a path (relative ones start at the policy's directory); it
 * means one file: path as named and target must both be those of the command.
 *   "args": ["a", "b"]                              the arguments begin with these
 *   "args": {"exact": ["a", "b"]}                   they are these and no others
 *   "args": {"prefix": [..], "suffix": [..], "extra": n}  begin, end, at most n between them
 * What stands between prefix and suffix are the free arguments.  match and not_match are lists of
 * conditions on whole elements:
 *   {"arg": "-x"}         is exactly that
 *   {"prefix": "--out="}  begins with that
 *   {"like": "*.txt"}     the whole element, * is any text
 *   {"option": "--out"}   "--out" or "--out=value"; in refusals also its abbreviations
 *   {"short": "rf"}       a cluster of one-letter flags: made of these letters alone; in refusals
 *                         one that holds any of them
 * A rule that allows wants every free argument to meet a condition of match (when there is one)
 * and none to meet one of not_match.  A rule that denies (effect "deny") applies as soon as one
 * free argument meets match; it has no not_match.  Deny wins, whatever the order.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "limits.h"
#include "profile.h"
#include "tcp_ports.h"

struct boot_audit;
struct policy; /* a loaded policy; policy_free() */

#define POLICY_PROGRAMS_MOST 64 /* ways to write one program name in the rules: policy_programs() */

struct policy_error {
	char text[512]; /* "line 3, column 7: unknown key in rules[0]"; never quotes a value */
};

/* directory: of the policy file, absolute; relative roots and programs start there.  NULL with *error. */
struct policy *policy_load(const char *bytes, size_t length, const char *directory, struct policy_error *error);
void policy_free(struct policy *policy);

struct policy_root {
	const char *path; /* absolute, lexically clean; as written but for the directory */
	uint64_t flags;   /* enum root_flag of boot.h */
};

const uint8_t *policy_digest(const struct policy *policy); /* SHA-256 of the bytes, 32 */
int policy_version(const struct policy *policy);           /* 1 or 2 */
size_t policy_rule_count(const struct policy *policy);
size_t policy_root_count(const struct policy *policy);
struct policy_root policy_root_at(const struct policy *policy, size_t index);
/* Places beside the roots: read_paths and write_paths of all rules, each once for each way. */
size_t policy_extra_count(const struct policy *policy);
struct policy_root policy_extra_at(const struct policy *policy, size_t index);
/* What launch found the root to be, all links resolved: from then on working directories are compared with that. */
void policy_resolve_root(struct policy *policy, size_t index, const char *canonical);
unsigned policy_slots(const struct policy *policy);
unsigned policy_workers(const struct policy *policy); /* jobs the broker itself starts at once; 0: none */
unsigned policy_group(const struct policy *policy, const char *name); /* how many run at once; 0: no such group */

/*
 * queue.hooks: commands that the policy itself runs when something of a job is on record, each with
 * that event as one line on standard input.  events: the names that one record goes by.
 */
struct policy_hook {
	const char *const *argv;
	size_t argc;
	uint64_t timeout_seconds;
};
size_t policy_hook_count(const struct policy *policy);
struct policy_hook policy_hook_at(const struct policy *policy, size_t index);
/* The first of these names (NULL at the end) that the hook listens to, or NULL. */
const char *policy_hook_hears(const struct policy *policy, size_t index, const char *const *events);

uint64_t policy_audit_loss(const struct policy *policy); /* enum audit_loss of plan.h */
const struct boot_audit *policy_audit(const struct policy *policy); /* who sees the log's checkpoints */
enum profile policy_cage_floor(const struct policy *policy); /* the weakest that any rule allows */
/* The layers that every rule that allows something wants, enum layer of run.h as bits. */
uint64_t policy_minimum_bounds(const struct policy *policy);
/* The farthest that any rule allows, and the ports of all of them. */
enum network policy_network_bounds(const struct policy *policy, struct tcp_ports *ports);
const char *policy_search_path(const struct policy *policy); /* absolute directories joined by ':' */
uint64_t policy_max_timeout_seconds(const struct policy *policy);
uint64_t policy_keep_bytes(const struct policy *policy);     /* version 1: max_output_chars */
bool policy_secret_override(const struct policy *policy); /* may an operator let a secret in argv pass? */
uint64_t policy_approval_seconds(const struct policy *policy); /* how long an approval holds */

/* May this variable come from a caller?  Never PATH HOME TMPDIR USER SHELL, never LD_* and other loader names. */
bool policy_allows_environment(const struct policy *policy, const char *name);
size_t policy_environment_count(const struct policy *policy); /* names of the allow-list */
const char *policy_environment_at(const struct policy *policy, size_t index);
/* Fixed "NAME=value" texts of every job (PATH, HOME=/tmp, ... and the policy's `environment`). */
size_t policy_fixed_count(const struct policy *policy);
const char *policy_fixed_at(const struct policy *policy, size_t index);

/*
 * What the rules call their programs, when it could match a command of this name: what the executor
 * must resolve.  Each once, in the rules' order.  Returns how many there are, at most
 * POLICY_PROGRAMS_MOST for any name; fills up to capacity.
 */
size_t policy_programs(const struct policy *policy, const char *argv0, const char **programs, size_t capacity);

/* How a job is confined: PLAN_* of plan.h. */
struct policy_cage {
	enum profile profile;
	enum network network;
	struct tcp_ports ports; /* not empty exactly with NETWORK_TCP_PORTS */
	const struct policy_root *extras; /* read_paths and write_paths, with ROOT_EXTRA_READ or _WRITE */
	size_t extra_count;
	uint64_t minimum; /* enum layer of run.h, as bits */
};

struct policy_limits {
	uint64_t grace_ms, keep_bytes, output_bytes, file_bytes, cpu_seconds, open_files, processes,
	    memory_bytes, tmp_bytes, idle_ms, cpu_percent; /* as PLAN_* in plan.h; 0: no limit where that says so */
};

/* One program as the executor resolved it; named[0] == 0: not there. */
struct policy_program {
	char named[LIMIT_PATH];
	char target[LIMIT_PATH];
};

struct policy_request {
	const char *const *argv; /* any bytes but NUL */
	size_t argc;
	const char *cwd;         /* canonical */
	uint64_t timeout_seconds;
	bool program_known;      /* false: program_unavailable; program is empty */
	struct policy_program program;
	const uint8_t *program_sha256; /* 32 bytes; NULL: not known, and no rule with digests allows it */
	const struct policy_program *rule_programs; /* what policy_programs() named, resolved, same order */
	size_t rule_program_count;
	const char *hook;        /* the event that a hook is run for: the rules do not apply; NULL: no hook */
	bool pinned, interpreter_pinned; /* only root can change it; there is no interpreter: true */
	const char *const *environment; /* "NAME=value" from the caller */
	size_t environment_count;
};

enum verdict {
	VERDICT_ALLOWED = 0,
	VERDICT_NO_POLICY,      /* none loaded */
	VERDICT_NO_PROGRAM,     /* program_unavailable */
	VERDICT_TIMEOUT,        /* longer than the policy allows */
	VERDICT_NO_RULE,        /* deny by default */
	VERDICT_DENIED_RULE,    /* a deny rule matched */
	VERDICT_ARGUMENT,       /* a denied argument */
	VERDICT_WORKDIR,        /* outside every root */
	VERDICT_ENVIRONMENT,    /* a variable that is not allowed */
	VERDICT_CAGE,           /* this machine cannot give the cage: not policy_decide()'s, assess_cage.c's */
	VERDICT_COUNT
};

#define POLICY_FAILED_MOST 32

struct policy_answer {
	enum verdict verdict;
	int rule;                     /* index of the matching rule, -1: none */
	int root;                     /* index of the root, -1: none */
	char reason[512];             /* one sentence for a person */
	struct policy_cage cage;      /* when allowed; profile 0 when not */
	struct policy_limits limits;  /* when allowed */
	size_t failed_count;          /* every condition that failed; rule -1: one that no rule can lift */
	struct { int rule; char text[200]; } failed[POLICY_FAILED_MOST];
};

/* answer is filled whole. policy may be NULL. */
void policy_decide(const struct policy *policy, const struct policy_request *request, struct policy_answer *answer);

/* The matching rule as JSON members of an assessment: {"program":..,"args_prefix":[..]}; struct json of json.h. */
struct json;
struct json *policy_rule_json(const struct policy *policy, int rule);

/* Lints: one text each, for check-policy.  Returns how many there are; fills up to capacity (malloc()ed texts). */
size_t policy_lint(const struct policy *policy, char **texts, size_t capacity);

/* The same for what the policy names and this machine has not: the only one that looks at the disk. */
size_t policy_lint_places(const struct policy *policy, char **texts, size_t capacity);

/* The same for cages: what this machine cannot give, and paths that show too much.  Looks at the disk. */
size_t policy_lint_cages(const struct policy *policy, char **texts, size_t capacity);

/* What may be proposed, for policy.summary and the MCP tool. */
struct json *policy_summary(const struct policy *policy);

#endif
