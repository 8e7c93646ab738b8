#ifndef TALLY_H
#define TALLY_H

/*
 * Calls that were refused, or that a stronger profile would have refused, counted by kind in a
 * fixed table: a job cannot make it grow.  Pure.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

#include "denied.h"
#include "fields.h"
#include "keep.h"
#include "profile.h"

/* Programs by profile (FILTERS_PROGRAM in keep.h), oldest first, NULL behind them.  They lie in the caller's bytes. */
struct tally_filters {
	enum profile profile; /* the job's */
	const struct sock_filter *programs[PROFILE_COUNT][FILTERS_EACH];
};

struct tally {
	struct denied_row rows[DENIED_ROWS];
	size_t count;
	uint64_t refused, unlisted;
};

/* False when the bytes are no filters (keep.h), one is not sound, or the job's own is missing. */
bool tally_read_filters(struct tally_filters *filters, const void *bytes, size_t length);

/*
 * What this call is: error 0: it passes under the job's own profile.  EPERM for what its filter
 * answers in another way than by an error: such a call never comes here.
 */
struct denied_row tally_weigh(const struct tally_filters *filters, const struct seccomp_data *call);

/* Once more. */
void tally_add(struct tally *tally, const struct denied_row *call);

/* The file's bytes (denied.h), the writer's until fields_free(). */
void tally_write(const struct tally *tally, enum profile profile, struct fields_writer *writer);

#endif
