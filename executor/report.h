#ifndef REPORT_H
#define REPORT_H

/*
 * Filters that hand what they refuse to the keeper instead of answering it (seccomp_unotify(2)),
 * for the profiles that report (profile.h).
 *
 * Of several filters in force the hardest answer counts, and an errno is harder than a
 * notification: so this one filter stands in the place of a job's usual two.  It is made of the
 * programs of all profiles, one behind the other, with each SECCOMP_RET_ERRNO turned into
 * SECCOMP_RET_USER_NOTIF: the keeper hears of what any profile refuses, answers what this profile
 * refuses, and lets the rest go on.  It gets those programs as they were, so that no second list
 * can say something else (KEEPER_FILTERS_FD in keep.h).
 *
 * What the executor's own filter refuses to everybody below it (NEVER in filter.def) is answered
 * by that one, and nobody is told.
 */
#include <linux/filter.h>
#include <stdint.h>

#include "profile.h"

/* After filter_open(): for all networks up to the farthest.  Ends the process on failure. */
void report_open(enum profile floor, enum network farthest);

/* The one filter; NULL: this profile does not report. */
const struct sock_fprog *report_program(enum profile profile, enum network network);

/* SHA-256 over a job's filter as it is loaded: this one, or filter_digest(). */
const uint8_t *report_digest(enum profile profile, enum network network);

/* A sealed memfd for KEEPER_FILTERS_FD, ours; -1: this profile does not report. */
int report_filters(enum profile profile, enum network network);

/*
 * Load the filter into this process: its listener, close-on-exec, or -1 with errno, also when the
 * filter does not hold.  Async-signal-safe.
 */
int report_load(enum profile profile, enum network network);

#endif
