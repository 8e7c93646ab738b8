#ifndef RLIMITS_H
#define RLIMITS_H

/* Resource limits of a job, each read back.  Async-signal-safe.  0, or -1 with errno. */
#include "decode.h"

int rlimits_apply(const struct plan *plan);

#endif
