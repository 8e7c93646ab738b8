#ifndef PROVE_H
#define PROVE_H

/*
 * The records of one job with the proof that they are in the log (RFC 6962 section 2.1.1), in a
 * file that needs nothing but the genesis key to be checked; proof.h reads it.
 *
 *   agent-safe-audit-proof/1
 *   the line of log.genesis and those of all seals, as in anchors.jsonl
 *   the line of a record, then the hashes of its path from the leaf up, base64, each on a line
 *   ...
 *
 * The paths lead to the root that the last seal signs.
 */
#include <stdbool.h>

#define PROVE_MARK "agent-safe-audit-proof/1"
#define PROVE_RECORDS 512 /* of one job, at most */

struct verify;

/* job: its UUID as text.  Before the first segment is read; writes the seals to standard output. */
void prove_begin(struct verify *verify, const char *job);

/*
 * All is read and holds: write the records and their paths.  False after one line on standard
 * error: there are none, or too many.
 */
bool prove_end(void);

#endif
