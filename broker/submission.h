#ifndef SUBMISSION_H
#define SUBMISSION_H

/* A proposal before it is stored: read, bounded, searched for secrets. */
#include <stdbool.h>

#include "limits.h"

#include "jobs.h"
#include "order.h"

struct operation;

/* An element of argv that may hold a secret, and what was found there (NULL: nothing yet). */
struct submission_pass {
	size_t element;
	const char *rule;
};

struct submission {
	struct job job; /* complete but for the plan and the numbers of the store */
	bool new;       /* the same again, although it was there before */
	const char *by, *reason; /* who lets secrets pass and why, borrowed from the request; NULL: nobody */
	size_t pass_count;
	struct submission_pass passes[LIMIT_SECRETS];
	size_t need_count; /* jobs that must end before */
	struct {
		int64_t job; /* jobs.seq */
		enum order_want want;
	} needs[ORDER_NEEDS_MOST];
};

/*
 * Read the parameters and the working directory of job.submit.  NULL: refused, the operation has
 * been answered or is about to be (the refusal is on record first).
 */
struct submission *submission_read(struct operation *operation);
void submission_free(struct submission *submission);

/*
 * submission_secrets.c: allow_secrets, by, reason, once the command is read; and the search for
 * secrets, once all is.
 */
bool submission_read_secrets(struct operation *operation, struct submission *submission);
bool submission_is_clean(struct operation *operation, struct submission *submission);

/* submission_order.c: retry, group, mutex, after. */
bool submission_read_order(struct operation *operation, struct submission *submission);

/*
 * Refuse, and have it on record first: the code, what it was about and which rule, never the
 * value.  Returns false.
 */
bool submission_reject(struct operation *operation, const char *code, const char *what,
    const char *rule, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* False: it looks like a secret, and is refused as above.  text may be NULL. */
bool submission_text_is_clean(struct operation *operation, const char *what, const char *text);

/* Names of what differs in content between two jobs with one key, into the array. */
struct json;
void submission_differences(const struct job *old, const struct job *new, struct json *names);

#endif
