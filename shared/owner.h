#ifndef OWNER_H
#define OWNER_H

/*
 * Is a program that would be run in place really root's?  The executor lives in a user namespace
 * in which root and every stranger look alike (the overflow uid), so it can judge modes but not
 * owners; the broker sees the host's uids.  Landlock lets it ask for them (stat is no access).
 */
#include <stdbool.h>

/*
 * Every directory above target and target itself belong to the owner of "/", that is root, and
 * neither group nor others may write there; no component is a link.  target: canonical.  Nobody
 * but root can change what such a path leads to between the check and the run.
 *
 * In an ordinary user's workspace the broker has a user namespace of its own, in which root is the
 * overflow uid, as is every stranger: there this says only "neither mine nor open to others".
 */
bool owner_is_root(const char *target);

#endif
