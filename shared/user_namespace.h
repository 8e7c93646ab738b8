#ifndef USER_NAMESPACE_H
#define USER_NAMESPACE_H

/*
 * Does this kernel give this account a user namespace that is of use?  Asked by making one: what the switches of
 * the host say is only why not.  For doctor and launch; tests can replace the one function that asks.
 */
#include <stddef.h>

enum user_namespace {
	USER_NAMESPACE_WORKS,
	USER_NAMESPACE_EMPTY,   /* it can be made, and its maker has no capability in it */
	USER_NAMESPACE_REFUSED, /* *error says why */
	USER_NAMESPACE_KILLED   /* a system call filter ends who tries */
};

/*
 * A child makes one, and does in it what takes a capability; both end with the child.  *error is an errno
 * when it is refused, else 0: EPERM by a switch for all accounts or a filter, EACCES by an LSM, ENOSPC by
 * user.max_user_namespaces (user_namespaces(7), namespaces(7)).
 */
enum user_namespace user_namespace_try(int *error);

/* Both answers in words: "No space left on device". */
const char *user_namespace_text(enum user_namespace answer, int error);

#endif
