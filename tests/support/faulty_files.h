#ifndef FAULTY_FILES_H
#define FAULTY_FILES_H

/*
 * SQLite's files under a fault: a shim over its "unix" files that counts every xWrite, xSync and
 * xTruncate and makes the chosen one go wrong.  faulty_install() once, before the store is opened.
 */
#include <stdbool.h>

enum faulty {
	FAULTY_NOT,
	FAULTY_EIO,        /* the call fails, nothing happens */
	FAULTY_FULL,       /* a write has no space; other calls fail as above */
	FAULTY_TORN,       /* half of a write happens, then it fails */
	FAULTY_LOSE,       /* a sync fails, and what was written since the last one is gone, as kernels do it */
	FAULTY_DIE,        /* the process dies before the call */
	FAULTY_DIE_TORN,   /* it dies in the middle of a write */
	FAULTY_POWER,      /* the power fails: nothing that was not synced is there */
	FAULTY_POWER_SOME, /* the power fails: every other write that was not synced is there */
	FAULTY_COUNT
};

#define FAULTY_DEAD 90 /* exit status of a process that the fault ended */

void faulty_install(void);

/* From now on: the number-th call (1: the next) goes so. */
void faulty_arm(enum faulty faulty, unsigned number);

/* Has it happened, and was it a write or a sync (and no truncation)? */
bool faulty_struck(void);

#endif
