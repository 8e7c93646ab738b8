#ifndef ASSESS_H
#define ASSESS_H

/*
 * What would run, and does the policy allow it?  The executor resolves and hashes the program,
 * the policy decides, and the plan's bytes are made: they are what an approval covers.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "digest.h"
#include "fields.h"
#include "json.h"
#include "payloads.h"

#include "jobs.h"
#include "plan_source.h"
#include "policy.h"

struct boot_root;
struct broker;
struct operation;

struct assessment {
	enum assess_status status;     /* what the executor said; ASSESS_OK when it was not asked */
	bool asked;                    /* the program was looked for */
	struct policy_answer decision;
	struct plan_answer answer;     /* when program_known */
	bool program_known;
	bool foreign;                  /* it was to run in place, but is not root's: not known then */
	struct fields_writer plan;     /* its bytes, when `planned` */
	bool planned;                  /* allowed, and the plan could be made */
	uint8_t digest[DIGEST_BYTES];  /* of the plan */
	char reason[600];              /* one sentence for a person */

	struct fields_writer question; /* its bytes until it is sent */
	bool sent;
	uint64_t generation;           /* of the policy it was asked under */
};

/*
 * Assess a job as it is stored or will be stored; nothing is changed.  The operation goes on in
 * resume() with operation->assessment, where it looks first whether the job is still there.
 */
void assess_begin(struct operation *operation, const struct job *job,
    void (*resume)(struct operation *operation));
void assess_free(struct assessment *assessment);

/* The executor's answer; takes the descriptor. */
void assess_answered(struct broker *broker, const struct msg_program_assessed *answer, int fd);

/* Send what waits; the next moment to call this again (monotonic us), 0: none. */
uint64_t assess_tick(struct broker *broker);

/* What an allowed job's cage wants and this machine, or this root, has not makes it VERDICT_CAGE, with a reason. */
void assess_cage(const struct broker *broker, const struct boot_root *root, struct assessment *assessment);

/* Would it run?  If not, assessment->reason says why and this is the verdict's name. */
bool assess_allows(const struct assessment *assessment);
const char *assess_verdict(const struct assessment *assessment);

/*
 * An assessment as a new object (assess_json.c).  Beside the job itself the command is left out:
 * both together would not fit a line.
 */
struct json *assess_json(struct broker *broker, const struct job *job,
    const struct assessment *assessment, bool with_command);

#endif
