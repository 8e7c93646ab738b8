#ifndef IDENTITY_H
#define IDENTITY_H

/*
 * Whose files: the executor opens what belongs to a job or to its keeper under their
 * filesystem ids, and goes back to its own at once.  All ids are of the executor's own namespace.
 */
#include <sys/types.h>

#include <stdbool.h>

struct identity {
	uid_t uid;
	gid_t gid;
};

/* This process's own, as it started. */
struct identity identity_own(void);

/* Filesystem ids from now on; 0, or -1 with errno EPERM when they did not take. */
int identity_assume(const struct identity *identity);

/* Back to our own; ends the process when that fails: it must not go on as somebody else. */
void identity_resume(void);

/* Is this uid in the table of ids that jobs, keepers or we run under? */
struct identities {
	const struct identity *ids;
	unsigned count;
};
bool identity_listed(const struct identities *list, uid_t uid);

#endif
