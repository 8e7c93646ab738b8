#ifndef SECRETS_H
#define SECRETS_H

/*
 * What looks like a secret.  One table (secrets.def), two uses: refuse it before it is stored,
 * mask it in a stream before anything is cut or stored.  Linear time, bounded memory, no
 * regular expressions, no decision from entropy alone.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "run.h"

struct secret_finding {
	const char *rule;    /* "aws_access_key_id"; constant */
	size_t at, length;   /* of the value, in bytes */
};

/* The first secret in one text (a reason, a label, a key). */
bool secret_in_text(const char *text, size_t length, struct secret_finding *finding);

/*
 * The first secret in an argv, judged with its neighbours: `--token X`, `-u user:pass`.
 * index: which element.
 */
bool secret_in_argv(const char *const *argv, const size_t *lengths, size_t count, size_t *index,
    struct secret_finding *finding);

/* The same, but for the elements that `passed` marks (count of them): what is found there does not count. */
bool secret_in_argv_but(const char *const *argv, const size_t *lengths, size_t count, const bool *passed,
    size_t *index, struct secret_finding *finding);

/* --- masking a stream: what is found becomes <redacted>, also when split over writes --- */

#define REDACT_WINDOW 65536

struct redactor; /* opaque, malloc()ed */

/* sink gets masked bytes in order; it must not fail.  NULL: out of memory. */
struct redactor *redact_open(void (*sink)(void *context, const void *bytes, size_t length), void *context);
/*
 * Mask these very bytes too, wherever they stand: one line of 1 to LIMIT_SECRET_BYTES, at most
 * LIMIT_SECRETS of them.  Copied.  False: they are not that.  Before the first redact_feed().
 */
bool redact_hide(struct redactor *redactor, const void *bytes, size_t length);
void redact_feed(struct redactor *redactor, const void *bytes, size_t length);
void redact_end(struct redactor *redactor); /* flush what was held back */
uint64_t redact_count(const struct redactor *redactor);
uint64_t redact_count_of(const struct redactor *redactor, enum masked kind);
void redact_close(struct redactor *redactor);

/* Mask a whole text: malloc()ed, NUL-terminated, or NULL when out of memory. */
char *redact_text(const char *text, size_t length, size_t *masked_length);

#endif
