#ifndef NEEDS_H
#define NEEDS_H

/* The table `needs`: which job waits for which, and for what end (enum order_want). */
#include <stdbool.h>
#include <stdint.h>

#include "order.h"
#include "store.h"

struct need {
	uint8_t id[16]; /* of the job that is waited for */
	enum order_want want;
	bool met;
};

/* Inside a transaction. */
void needs_add(struct store *store, int64_t job, int64_t on_job, enum order_want want);
void needs_meet(struct store *store, int64_t job, int64_t on_job);
void needs_in_vain(struct store *store, int64_t job, int64_t on_job); /* it ended otherwise */
void needs_forget(struct store *store, int64_t job); /* it waits for nobody any more */

/* The first job that still waits for this one; false: none. */
bool needs_next_on(struct store *store, int64_t on_job, int64_t *job, enum order_want *want);

void needs_each(struct store *store, int64_t job,
    void (*visit)(void *context, const struct need *need), void *context);

#endif
