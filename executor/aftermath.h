#ifndef AFTERMATH_H
#define AFTERMATH_H

/*
 * Between a job's last breath and the record of its end: what has become of the protected paths
 * (protect.h).  Ends in attempt_conclude().
 */
#include "attempt.h"

void aftermath(struct attempt *attempt, const struct run_end *end);

#endif
