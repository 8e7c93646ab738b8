/* Filesystem ids, read back. */
#include <sys/fsuid.h>

#include <errno.h>
#include <unistd.h>

#include "log.h"

#include "identity.h"

struct identity
identity_own(void)
{
	return (struct identity){ geteuid(), getegid() };
}

int
identity_assume(const struct identity *identity)
{
	setfsgid(identity->gid);
	setfsuid(identity->uid);
	/* An id that cannot be is the way to ask: the call returns the present one. */
	if ((gid_t)setfsgid((gid_t)-1) == identity->gid &&
	    (uid_t)setfsuid((uid_t)-1) == identity->uid)
		return 0;
	identity_resume();
	errno = EPERM;
	return -1;
}

void
identity_resume(void)
{
	struct identity own = identity_own();

	setfsuid(own.uid);
	setfsgid(own.gid);
	if ((gid_t)setfsgid((gid_t)-1) != own.gid || (uid_t)setfsuid((uid_t)-1) != own.uid)
		fatal("filesystem ids cannot be taken back");
}

bool
identity_listed(const struct identities *list, uid_t uid)
{
	for (unsigned i = 0; i < list->count; i++)
		if (list->ids[i].uid == uid)
			return true;
	return false;
}
