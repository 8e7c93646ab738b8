/*
 * landlock_abi() for test builds of all programs: an older kernel's answer, the number in the file `abi` beside the
 * program; without it the true one.  Only what that ABI knows is asked of the kernel then, so a cage is what it
 * would be there.  Above this kernel's own nothing can be tried but what is said.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "landlock.h"

static int stubbed = -1;

int __real_landlock_abi(void);
int __wrap_landlock_abi(void);

static __attribute__((constructor)) void
read_abi(void)
{
	char path[PATH_MAX + 16];
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
	char *slash;
	FILE *file;

	path[length > 0 ? length : 0] = '\0';
	slash = strrchr(path, '/');
	if (!slash)
		return;
	snprintf(slash, 16, "/abi");
	file = fopen(path, "re");
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
