#ifndef APPROVED_H
#define APPROVED_H

/*
 * Is everything that a plan names still as it was approved?  What was found goes into the errand's
 * shared memory (struct start_findings of start.h).
 */
#include <stdbool.h>

#include "attempt.h"

/* In a child (errand.c); errand->source.context is the attempt. */
void approved_in_child(struct errand *errand);

/*
 * Without a child, where none of all this can keep us waiting (local.h).  Only a yes counts: when
 * something is amiss the child has the last word.
 */
bool approved_here(const struct attempt *attempt);

/* A child was everywhere, found local filesystems alone, and came back. */
void approved_note_local(const struct attempt *attempt);

#endif
