#ifndef PROOF_H
#define PROOF_H

/* Checking a file that prove.h wrote: seals from the genesis key on, then each record's path. */
#include "verify.h"

/*
 * verify: begun, with key and notes.  Prints the records that are proven, to standard output, when
 * all hold; the verdict is in verify, verify_end() is not for it.
 */
void proof_check(struct verify *verify, const char *path);

#endif
