/*
 * executor_confine() for a test build: one capability less than the shipped one keeps, by the number
 * in the file `less` beside the program (-1: none less).  To see what each is needed for.
 */
#include <linux/capability.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "confine.h"
#include "log.h"

#include "executor.h"
#include "filter.h"

#define BIT(capability) (1ull << (capability))
#define ALL (BIT(CAP_SYS_ADMIN) | BIT(CAP_SETUID) | BIT(CAP_SETGID) | BIT(CAP_SETPCAP) | BIT(CAP_KILL))

static int less = -1;

static __attribute__((constructor)) void
read_less(void)
{
	char path[PATH_MAX + 16];
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
	char *slash;
	FILE *file;

	path[length > 0 ? length : 0] = '\0';
	slash = strrchr(path, '/');
	if (!slash)
		return;
	snprintf(slash, 16, "/less");
	file = fopen(path, "re");
	if (!file || fscanf(file, "%d", &less) != 1)
		less = -1;
	if (file)
		fclose(file);
}

void
executor_confine(const struct executor *executor)
{
	uint64_t kept = executor->boot.network == NETWORK_NONE ? ALL : ALL | BIT(CAP_NET_ADMIN);

	confine_privileges(less < 0 ? kept : kept & ~BIT(less));
	if (filter_load_own() < 0)
		fatal("own filter: %s", strerror(errno));
}
