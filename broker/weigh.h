#ifndef WEIGH_H
#define WEIGH_H

/*
 * An approved job against what would run now: the same, something else, or not allowed any more.
 * One place for every way in which an approval ends.
 */
#include <stdbool.h>

#include "jobs.h"

struct broker;
struct operation;

enum weighed {
	WEIGH_GOOD, /* what was approved is what would run */
	WEIGH_REFUSED, /* the operation has its error; the job is pending again, or as it was */
	WEIGH_BURIED, /* the policy says no: dead_letter */
};

/* With operation->assessment, made just now. */
enum weighed weigh_run(struct operation *operation, struct job *job);

/* False: the approval's time was over; that is stored, and the operation has its error. */
bool weigh_expiry(struct operation *operation, struct job *job);

/* The clock on the wall (us), which never goes back here: what approvals end by. */
uint64_t weigh_now_us(const struct broker *broker);

/* Expire every approval whose time is over; the next moment (realtime us), 0: none. */
uint64_t weigh_expire(struct broker *broker);

#endif
