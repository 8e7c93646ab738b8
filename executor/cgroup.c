/* cgroup v2 of a run. */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "run.h"
#include "scope.h"
#include "text.h"

#include "cgroup.h"

bool
cgroup_available(int jobs)
{
	struct stat seen;

	return fstat(jobs, &seen) == 0 && S_ISDIR(seen.st_mode);
}

static int
write_value(int group, const char *name, const char *value)
{
	scoped_close int fd = openat(group, name, O_WRONLY | O_CLOEXEC);
	ssize_t length = (ssize_t)strlen(value), written = fd < 0 ? -1 : write(fd, value, (size_t)length);

	if (written >= 0 && written != length)
		errno = EIO;
	return written == length ? 0 : -1;
}

/* The kernel's answer must begin with what was asked, and a newline. */
static bool
reads_back(int group, const char *name, const char *value)
{
	scoped_close int fd = openat(group, name, O_RDONLY | O_CLOEXEC);
	size_t length = strlen(value);
	char seen[64];

	return fd >= 0 && length < sizeof(seen) && read(fd, seen, sizeof(seen)) > (ssize_t)length &&
	    memcmp(seen, value, length) == 0 && seen[length] == '\n';
}

/* 1: set and read back; 0: this controller is not here; -1 with errno. */
static int
set_limit(int group, const char *name, uint64_t value)
{
	char text[32];

	if (faccessat(group, name, F_OK, 0) < 0)
		return errno == ENOENT ? 0 : -1;
	if (!text_format(text, sizeof(text), "%llu", (unsigned long long)value) ||
	    write_value(group, name, text) < 0)
		return -1;
	if (reads_back(group, name, text))
		return 1;
	errno = EPERM;
	return -1;
}

/* Memory counts in pages: the kernel rounds down. */
static int
set_memory(int group, uint64_t bytes)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	int set;

	if (bytes == 0)
		return 0;
	set = set_limit(group, "memory.max", bytes / page * page);
	if (set <= 0)
		return set;
	if (set_limit(group, "memory.swap.max", 0) < 0)
		return -1;
	return write_value(group, "memory.oom.group", "1") < 0 ? -1 : 1;
}

#define CPU_PERIOD_US 100000 /* the kernel's own choice */

/* "quota period", both in microseconds: a quota of one period is one processor. */
static int
set_cpu(int group, uint64_t percent)
{
	char text[48];

	if (percent == 0)
		return 0;
	if (faccessat(group, "cpu.max", F_OK, 0) < 0)
		return errno == ENOENT ? 0 : -1;
	if (!text_format(text, sizeof(text), "%llu %u",
	        (unsigned long long)percent * (CPU_PERIOD_US / 100), CPU_PERIOD_US) ||
	    write_value(group, "cpu.max", text) < 0)
		return -1;
	if (reads_back(group, "cpu.max", text))
		return 1;
	errno = EPERM;
	return -1;
}

static int
set_limits(int group, const struct plan *plan, uint64_t *layers)
{
	int memory, pids, cpu;

	/* One after the other: errno is the first one's that failed. */
	if ((memory = set_memory(group, plan->memory_bytes)) < 0 ||
	    (pids = set_limit(group, "pids.max", plan->processes)) < 0 ||
	    (cpu = set_cpu(group, plan->cpu_percent)) < 0)
		return -1;
	*layers |= memory ? LAYER_CGROUP_MEMORY : 0;
	*layers |= pids ? LAYER_CGROUP_PIDS : 0;
	*layers |= cpu ? LAYER_CGROUP_CPU : 0;
	return 0;
}

int
cgroup_make(int jobs, const char *run, const struct plan *plan, uint64_t *layers)
{
	scoped_close int group = -1;

	if (mkdirat(jobs, run, 0755) < 0)
		return -1;
	group = openat(jobs, run, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (group < 0 || set_limits(group, plan, layers) < 0)
		return -1;
	*layers |= LAYER_CGROUP;
	return scope_keep(&group);
}

bool
cgroup_is_populated(int group)
{
	scoped_close int fd = openat(group, "cgroup.events", O_RDONLY | O_CLOEXEC);
	char text[128];
	ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	text[length > 0 ? length : 0] = '\0';
	return strstr(text, "populated 1\n") != NULL;
}

void
cgroup_kill(int jobs, const char *run)
{
	scoped_close int group = openat(jobs, run, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (group >= 0)
		write_value(group, "cgroup.kill", "1");
}

bool
cgroup_remove(int jobs, const char *run)
{
	return unlinkat(jobs, run, AT_REMOVEDIR) == 0 || errno != EBUSY;
}
