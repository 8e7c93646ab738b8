/* /proc of a job. */
#include <sys/mount.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "masks.h"
#include "mounts.h"
#include "template.h"

/*
 * Of the whole host, or writable: CAGE 13 and what was seen since.  Not every kernel has them all.
 */
static const char *const names[] = {
	"proc/acpi", "proc/buddyinfo", "proc/bus", "proc/cmdline", "proc/config.gz",
	"proc/diskstats", "proc/driver", "proc/dynamic_debug", "proc/fs", "proc/interrupts",
	"proc/iomem", "proc/ioports", "proc/irq", "proc/kallsyms", "proc/kcore",
	"proc/key-users", "proc/keys", "proc/kmsg", "proc/kpagecgroup", "proc/kpagecount",
	"proc/kpageflags", "proc/latency_stats", "proc/modules", "proc/mtrr", "proc/partitions",
	"proc/pressure", "proc/sched_debug", "proc/schedstat", "proc/scsi", "proc/slabinfo",
	"proc/softirqs", "proc/swaps", "proc/sysrq-trigger", "proc/sysvipc", "proc/timer_list",
	"proc/tty", "proc/vmallocinfo",
};

/* Its type is the same on every host; a name that this kernel does not have needs no cover. */
static bool
is_directory(const char *name)
{
	static const char *const directories[] = { "proc/acpi", "proc/bus", "proc/driver",
		"proc/dynamic_debug", "proc/fs", "proc/irq", "proc/pressure", "proc/scsi", "proc/sysvipc",
		"proc/tty" };

	for (unsigned i = 0; i < sizeof(directories) / sizeof(directories[0]); i++)
		if (strcmp(name, directories[i]) == 0)
			return true;
	return false;
}

/* A bind of our empty file or directory: it keeps the attributes of the mount it is taken from. */
static int
cover(const char *name, const char *with)
{
	return mount(with, name, NULL, MS_BIND, NULL) < 0 && errno != ENOENT ? -1 : 0;
}

/* One call for each cover is what makes a cage quick. */
static int
mount_masked(void)
{
	if (mount("proc", "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
		return -1;
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (cover(names[i], is_directory(names[i]) ? TEMPLATE_MASK_DIRECTORY : TEMPLATE_MASK_FILE) < 0)
			return -1;
	return mounts_show(AT_FDCWD, "proc/sys", AT_FDCWD, "proc/sys", MOUNTS_SYSTEM | MOUNTS_NO_EXEC);
}

/* There is no more to cover; that the kernel has understood is seen by what is not there. */
static int
mount_pids(void)
{
	if (mount("proc", "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC,
	    "subset=pid,hidepid=invisible") < 0)
		return -1;
	if (access("proc/sys", F_OK) < 0 && access("proc/meminfo", F_OK) < 0 &&
	    access("proc/self", F_OK) == 0)
		return 0;
	errno = EPERM;
	return -1;
}

int
masks_mount_proc(enum profile_proc kind)
{
	return kind == PROC_PIDS ? mount_pids() : mount_masked();
}
