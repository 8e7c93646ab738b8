#ifndef INIT_H
#define INIT_H

/*
 * Pid 1 of a job.  Becomes the slot's init uid, builds the cage, waits for the keeper's
 * INIT_BEGIN, starts the worker, then keeps nothing but CAP_KILL and serves: reaps, forwards
 * INIT_SIGNAL, reports to the keeper, ends when the keeper's socket ends.  With it ends every
 * process of its namespace.
 */
#include "cage.h"

_Noreturn void init_run(struct cage *cage);

#endif
