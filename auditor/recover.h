#ifndef RECOVER_H
#define RECOVER_H

/*
 * The start of the pen (agent-safe-audit(7)): a first log is begun, an existing one is read and verified
 * from its first line, a torn end is declared in a new segment.  Nothing is ever cut off or
 * rewritten; a loss that no crash explains ends the process with the reason.
 */
#include "pen.h"
#include "walk.h"

/*
 * pen: each and context are set.  walk: scratch, large.  origin: of the boot record.
 * Afterwards the pen has an open segment whose last line is a seal.
 */
void recover(struct pen *pen, struct walk *walk, int log_fd, int key_fd, const char *origin);

/* Is this the hash of the line with this seq?  Reads the log from the start; walk: scratch. */
bool recover_line_is(struct walk *walk, int log_fd, const char *origin, uint64_t seq, const uint8_t hash[32]);

#endif
