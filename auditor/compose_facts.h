#ifndef COMPOSE_FACTS_H
#define COMPOSE_FACTS_H

/* What the executor has told in one message (facts.h), strictly read.  Part of compose.h. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "facts.h"
#include "fields.h"
#include "limits.h"

/* The facts of one message by tag; argv is a list and stays in the bytes. */
struct facts {
	struct field fields[FACT_TAG_END];
	const void *bytes;
	size_t length;
	unsigned argc;
	uint64_t argv_bytes; /* with a NUL behind each */
	uint64_t secrets[LIMIT_SECRETS]; /* elements that are an HMAC; rising */
	size_t secret_count;
};

/*
 * Each field of this list (ended by 0) once, FACT_ARG any number of times but not never; perhaps
 * `may`, that one many times if it is FACT_ARG_SECRET; no other.  facts: points into bytes.
 */
bool facts_read(struct facts *facts, const enum fact_tag *tags, enum fact_tag may, const void *bytes, size_t length);

#endif
