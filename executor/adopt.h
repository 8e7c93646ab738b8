#ifndef ADOPT_H
#define ADOPT_H

/* Runs that were here before this executor was: found by their folders after a restart. */
#include "attempt.h"

/* Look through all slots; what is not collected becomes an attempt. */
void adopt_all(struct executor *executor);

/* What did not fit then, when all that did is over. */
void adopt_more(struct executor *executor);

/* One run by name: 0, or -1 when there is no folder of it. */
int adopt_one(struct executor *executor, const struct run_name *run);

/* Its keeper could not be reached the last time. */
void adopt_again(struct attempt *attempt);

#endif
