#ifndef FAULT_H
#define FAULT_H

/* Refusals and errors: one form on standard error, one exit status each (ARCHITECTURE 5). */
#include <stdbool.h>

#include "talk.h"

enum fault_exit {
	EXIT_DONE = 0,
	EXIT_JOB_FAILED = 1,   /* the job ran and did not succeed */
	EXIT_REFUSED = 2,      /* refused or wrong input: every error but the next */
	EXIT_UNREACHABLE = 3,  /* broker_unreachable, internal_error, output_error */
	EXIT_OURS = 125,       /* with --exit-status: any of the above, not the job's own */
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NOT_FOUND = 127,
	EXIT_INTERRUPTED = 130,
};

/* JSON on standard error from now on, or text for a person. */
void fault_json(bool json);

/* --exit-status was given: end with 125 instead of 2 and 3. */
void fault_ours(void);

/* Say it, write out what standard output still holds, end the process. */
_Noreturn void fault_die(const char *code, const char *format, ...) __attribute__((format(printf, 2, 3)));
_Noreturn void fault_end(const struct talk_fault *fault);

/* Say it and go on; the status the process should end with. */
int fault_say(const struct talk_fault *fault);

/* A remark that is not an error: "agent-safe: text" on standard error, in every mode. */
void fault_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
