#ifndef LEDGER_H
#define LEDGER_H

/*
 * What the witness has cosigned of each log: the file SHA-256(origin) in hex in the folder
 * "cosigned" holds the newest checkpoint as it came, with our cosignature behind it.  So the
 * state carries its own proof, and can be given to agent-safe-audit-verify as a note.
 */
#include <stdbool.h>
#include <stdint.h>

#include "checkpoint.h"

#define LEDGER_BYTES (CHECKPOINT_BYTES + CHECKPOINT_LINE + 1)

struct ledger_entry {
	bool known;                   /* something of this log was cosigned */
	char bytes[LEDGER_BYTES];
	struct checkpoint checkpoint; /* points into bytes */
	uint64_t seconds;             /* when it was cosigned */
};

/*
 * Hold the folder against every other witness process; -1 with errno.  The lock goes with the
 * process.
 */
int ledger_lock(int folder_fd);

/* NULL, or what is wrong: an entry that our own key has not signed is damage, never "none". */
const char *ledger_read(int folder_fd, const char *origin, const struct vkey *witness, struct ledger_entry *entry);

/* Keep this checkpoint with our signature line: durable on return.  NULL, or what is wrong. */
const char *ledger_write(int folder_fd, const struct checkpoint *checkpoint, const char *line);

/* Each entry in turn; why: what is wrong with it.  -1 with errno. */
int ledger_list(int folder_fd, const struct vkey *witness,
    void (*show)(const struct ledger_entry *entry, const char *why));

#endif
