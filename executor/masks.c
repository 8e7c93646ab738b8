/* /proc of a job. */
#include <sys/mount.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>

#include "scope.h"

#include "masks.h"
#include "mounts.h"
#include "template.h"

#define COVER (MOUNTS_SYSTEM | MOUNTS_NO_EXEC)

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

static int
cover(const char *name, int file, int directory)
{
	struct stat seen;

	if (lstat(name, &seen) < 0)
		return errno == ENOENT ? 0 : -1;
	return mounts_show(S_ISDIR(seen.st_mode) ? directory : file, "", AT_FDCWD, name, COVER);
}

int
masks_mount_proc(void)
{
	/* Opened before proc covers them. */
	scoped_close int file = open(TEMPLATE_MASK_FILE, O_PATH | O_CLOEXEC);
	scoped_close int directory = open(TEMPLATE_MASK_DIRECTORY,
	    O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (file < 0 || directory < 0)
		return -1;
	if (mount("proc", "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
		return -1;
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (cover(names[i], file, directory) < 0)
			return -1;
	return mounts_show(AT_FDCWD, "proc/sys", AT_FDCWD, "proc/sys", COVER);
}
