#ifndef TELL_H
#define TELL_H

/*
 * What the executor tells auditor and broker about an attempt.  A peer that does not listen ends
 * this process.
 */
#include "attempt.h"

void tell_intent(const struct attempt *attempt);
void tell_started(const struct attempt *attempt, uint64_t started_us, uint64_t layers);
void tell_stop(const struct attempt *attempt);

/* The fact that ends it, with attempt->token. */
void tell_end(struct attempt *attempt);

/* RUN_ENDED, RUN_REFUSED or RUN_LOST. */
void tell_broker(const struct attempt *attempt);
void tell_lives(const struct attempt *attempt);

#endif
