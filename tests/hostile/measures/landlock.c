/*
 * landlock_abi() for test builds of all programs: an older kernel's answer, the number in the file `abi` beside the
 * program; without it the true one.  Only what that ABI knows is asked of the kernel then, so a cage is what it
 * would be there.  Above this kernel's own nothing can be tried but what is said.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "beside.h"
#include "landlock.h"

static int stubbed = -1;

int __real_landlock_abi(void);
int __wrap_landlock_abi(void);

static __attribute__((constructor)) void
read_abi(void)
{
	FILE *file = beside_open("abi");

	if (!file)
		return;
	if (fscanf(file, "%d", &stubbed) != 1)
		stubbed = -1;
	fclose(file);
}

int
__wrap_landlock_abi(void)
{
	return stubbed >= 0 ? stubbed : __real_landlock_abi();
}
