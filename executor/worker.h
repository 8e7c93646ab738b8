#ifndef WORKER_H
#define WORKER_H

/*
 * From init's fork to exec: gives up everything, reads every measure back, executes.
 * Async-signal-safe calls only, nothing else in worker.c.
 */
#include "cage.h"

/* What the error pipe carries when it does not come to the exec. */
struct worker_failure {
	uint32_t stage; /* enum stage */
	int32_t error;
};

/* error_fd: close-on-exec, so that its end says "executed". */
_Noreturn void worker_run(const struct cage *cage, int error_fd);

#endif
