#ifndef REDACT_FIND_H
#define REDACT_FIND_H

/*
 * Walks over the secrets of one piece of visible text: those that secret_scan.h knows by their
 * shape, and given lines, word for word.  Where they overlap they are one.  Part of secrets.h.
 */
#include <stdbool.h>
#include <stddef.h>

#include "limits.h"
#include "secret_scan.h"

#define REDACT_EXACT "exact" /* the rule of a given line */

/* A given line; its visible characters. */
struct redact_literal {
	size_t length;
	char bytes[LIMIT_SECRET_BYTES];
};

/* Each secret is looked for once. */
struct redact_finder {
	struct secret_scan scan;   /* scan.at: where it goes on; set by the caller, who may move it on */
	const struct redact_literal *literals;
	size_t literal_count;
	struct secret_scan behind; /* the same behind `shaped` */
	struct secret_span shaped; /* the next by shape */
	bool looked, found;
	size_t next[LIMIT_SECRETS]; /* where each literal is next; SIZE_MAX: nowhere */
};

/* literals: borrowed. */
void redact_find_begin(struct redact_finder *finder, const struct redact_literal *literals, size_t count);

/* The next secret; false: there is none.  finder->scan.at moves behind it. */
bool redact_find_next(struct redact_finder *finder, struct secret_span *span);

#endif
