#ifndef ENDING_H
#define ENDING_H

/* How a run ended: stored with its record in one transaction. */
#include <stdbool.h>

#include "run.h"

#include "attempts.h"
#include "jobs.h"

struct broker;

/* The job leaves `running`; job and attempt are changed.  An impossible end is a breach. */
void ending_store(struct broker *broker, struct job *job, struct attempt *attempt,
    const struct run_end *end);

/* "nonzero_exit", "timeout", ...; NULL for success.  As in the first system, and beyond it. */
const char *ending_error_class(uint32_t outcome);

/* Is this an end that can be, with numbers that JSON can carry?  Pure. */
bool ending_is_possible(const struct run_end *end);

#endif
