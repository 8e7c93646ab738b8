#ifndef WITNESS_H
#define WITNESS_H

/* The witnesses that whoever verifies believes, and what they have cosigned of this log. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "limits.h"
#include "vkey.h"

#include "quorum.h"

struct witness {
	struct vkey vkey;
	uint64_t size; /* of the largest checkpoint that its cosignature on record covers; 0: none */
};

struct verify;

struct witness_list {
	struct witness list[QUORUM_WITNESSES];
	unsigned count;
	struct quorum quorum;
	uint64_t strangers;  /* cosignatures on record by others */
	struct verify *verify;
};

/* NULL, or what is wrong with it. */
const char *witness_add(struct witness_list *witnesses, const char *vkey);

/* No more will be added: so many of them are a quorum, 0: all.  NULL, or what is wrong. */
const char *witness_end_list(struct witness_list *witnesses, unsigned threshold);

/* All of them and their quorum from a file (quorum.h).  NULL, or what is wrong with this line of it. */
const char *witness_read_policy(struct witness_list *witnesses, char *text, size_t length, unsigned *line);

/* Before the first segment is read: a cosignature on record that does not hold is a fault of its line. */
void witness_begin(struct witness_list *witnesses, struct verify *verify);

/* How many lines a quorum has cosigned; 0: no quorum has any. */
uint64_t witness_quorum_size(const struct witness_list *witnesses);

/* A quorum is wanted, and none has cosigned anything. */
bool witness_lacks_quorum(const struct witness_list *witnesses);

/*
 * A note that somebody kept: NULL when each cosignature of a witness in the list holds, and they
 * are a quorum where `strict`; else why it is not to be believed.
 */
const char *witness_judge_note(const struct witness_list *witnesses, const char *note, size_t length, bool strict);

#endif
