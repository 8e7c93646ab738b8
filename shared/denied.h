#ifndef DENIED_H
#define DENIED_H

/*
 * The file KEEP_DENIED of a run folder: which system calls a job made that its profile, or a
 * stronger one, refuses.  Written by the keeper of a job whose profile reports (profile.h), read
 * by the broker.  Numbers are this machine's; a call's name is for whoever shows it.
 *
 * Fields (fields.h) in this order: DENIED_PROFILE, DENIED_REFUSED, DENIED_UNLISTED once each,
 * then DENIED_ROW as often as there are rows, at most DENIED_ROWS.
 */
#include <stdint.h>

#define DENIED_MAGIC "ASDENY01"
#define DENIED_ROWS 128
#define DENIED_BYTES 8192 /* more than a file with all its rows */

enum denied_tag {
	DENIED_PROFILE = 1, /* u64: enum profile, the one it ran under */
	DENIED_REFUSED,     /* u64: calls that were refused, listed or not */
	DENIED_UNLISTED,    /* u64: calls, refused or not, for which all rows were taken */
	DENIED_ROW          /* struct denied_row */
};

/* Calls that were alike. */
struct denied_row {
	uint32_t call;     /* number */
	uint32_t error;    /* errno it was answered with; 0: it passed, a stronger profile refuses it */
	uint32_t argument; /* 1..6: which argument is in value; 0: none decides about this call */
	uint32_t refusing; /* the profiles that refuse it: bit 1 << enum profile */
	uint64_t value;    /* the argument's bits that matter */
	uint64_t count;
};

_Static_assert(sizeof(struct denied_row) == 32, "no padding");
_Static_assert(8 + 3 * 16 + DENIED_ROWS * (8 + sizeof(struct denied_row)) < DENIED_BYTES, "all rows fit");

#endif
