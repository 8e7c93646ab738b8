#ifndef RENEW_H
#define RENEW_H

/*
 * A log whose key is lost, at the auditor's start.  In the folder of key.state:
 *
 *   operator         the operator's public key, base64, on a line; whoever may write here puts it there
 *   key.new          the key that waits to be accepted
 *   rekey.request    what the operator is to sign (rekey.h); written here
 *   rekey.statement  what the operator has signed; put there by hand
 */
#include <stdbool.h>

#include "pen.h"
#include "rekey.h"

/*
 * pen->sign does not belong to this log.  True: the operator has signed that its key, which may be
 * key.new become key.state just now, continues it; *rekey says so.  False: there is no operator's
 * key.  Ends the process with what is to be done when the statement is missing or wrong.
 */
bool renew(struct pen *pen, const struct chain *chain, int key_fd, struct rekey *rekey);

#endif
