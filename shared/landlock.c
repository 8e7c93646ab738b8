/* The one probe of Landlock. */
#include "landlock.h"

#define CREATE_RULESET_VERSION 1u

int
landlock_abi(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_RULESET_VERSION);

	return abi > 0 ? (int)abi : 0;
}

uint64_t
landlock_fs_rights(int abi)
{
	uint64_t rights = (LL_MAKE_SYM << 1) - 1;

	if (abi < 1)
		return 0;
	if (abi >= 2)
		rights |= LL_REFER;
	if (abi >= 3)
		rights |= LL_TRUNCATE;
	if (abi >= 5)
		rights |= LL_IOCTL_DEV;
	return rights;
}
