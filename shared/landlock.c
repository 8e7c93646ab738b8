/* The one probe of Landlock: alone in its file, so that a test can stand in for any kernel. */
#include "landlock.h"

#define CREATE_RULESET_VERSION 1u

int
landlock_abi(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_RULESET_VERSION);

	return abi > 0 ? (int)abi : 0;
}
