/* One user namespace, made to see whether it can be. */
#include <sys/prctl.h>
#include <sys/wait.h>

#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <unistd.h>

#include "user_namespace.h"

/* Exit status of the child that tries; any other is an errno. */
#define EMPTY 255

/*
 * A host that restricts them may let them be made, but without capabilities.  So one is used as well, in the way in
 * which each daemon begins: what it takes is CAP_SETPCAP alone, no namespace of another kind.
 */
static int
try_in_child(void)
{
	if (unshare(CLONE_NEWUSER) < 0)
		return errno & 0x7f;
	return prctl(PR_CAPBSET_DROP, CAP_SYS_BOOT, 0, 0, 0) < 0 ? EMPTY : 0;
}

enum user_namespace
user_namespace_try(int *error)
{
	pid_t child = fork();
	int status = 0;

	*error = 0;
	if (child == 0)
		_exit(try_in_child());
	if (child < 0 || waitpid(child, &status, 0) < 0) {
		*error = errno;
		return USER_NAMESPACE_REFUSED;
	}
	if (!WIFEXITED(status))
		return USER_NAMESPACE_KILLED;
	if (WEXITSTATUS(status) == 0)
		return USER_NAMESPACE_WORKS;
	if (WEXITSTATUS(status) == EMPTY)
		return USER_NAMESPACE_EMPTY;
	*error = WEXITSTATUS(status);
	return USER_NAMESPACE_REFUSED;
}
