#ifndef REMAINS_H
#define REMAINS_H

/*
 * What must stay of lines that are to be removed: the file anchors.jsonl (agent-safe-audit(7),
 * REMOVAL), written to standard output while the log is verified.
 */
#include <stdbool.h>
#include <stdint.h>

struct verify;

/* A segment must begin with seq.  Before the first segment is read. */
void remains_begin(struct verify *verify, uint64_t seq);

/* All is read and holds: is the file whole?  False after one line on standard error. */
bool remains_end(void);

#endif
