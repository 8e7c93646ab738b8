#ifndef WITNESS_H
#define WITNESS_H

/* The witnesses that whoever verifies believes, and what they have cosigned of this log. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "limits.h"
#include "vkey.h"

#define WITNESS_MOST 16

struct witness {
	struct vkey vkey;
	uint64_t size; /* of the largest checkpoint that its cosignature on record covers; 0: none */
};

struct verify;

struct witness_list {
	struct witness list[WITNESS_MOST];
	unsigned count;
	unsigned quorum;     /* 0: all of them */
	uint64_t strangers;  /* cosignatures on record by others */
	struct verify *verify;
};

/* NULL, or what is wrong with it. */
const char *witness_add(struct witness_list *witnesses, const char *vkey);

/*
 * The same from a file in the syntax of C2SP tlog-policy: lines "witness NAME VKEY [URL]",
 * "group NAME any|all|N MEMBER...", "quorum NAME", "log ..." (passed over), "#".  Groups of
 * witnesses only, and one quorum.
 */
const char *witness_read_policy(struct witness_list *witnesses, char *text);

/* Before the first segment is read: a cosignature on record that does not hold is a fault of its line. */
void witness_begin(struct witness_list *witnesses, struct verify *verify);

/* How many lines a quorum has cosigned; 0: no quorum has any. */
uint64_t witness_quorum_size(const struct witness_list *witnesses);

/*
 * A note that somebody kept: NULL when each cosignature of a witness in the list holds, and they
 * are a quorum where `strict`; else why it is not to be believed.
 */
const char *witness_judge_note(const struct witness_list *witnesses, const char *note, size_t length, bool strict);

#endif
