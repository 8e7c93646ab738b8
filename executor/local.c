/* Filesystems that answer. */
#include <sys/vfs.h>

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "scope.h"

#include "local.h"

/* Magic numbers of statfs(2): include/uapi/linux/magic.h of Linux 6.15. */
static const uint32_t known[] = {
	0xef53,     /* ext4 */
	0x58465342, /* XFS */
	0x9123683e, /* btrfs */
	0xf2f52010, /* F2FS */
	0x01021994, /* tmpfs */
};

bool
local_is(int fd)
{
	struct statfs seen;

	if (fd < 0 || fstatfs(fd, &seen) < 0)
		return false;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if ((uint32_t)seen.f_type == known[i])
			return true;
	return false;
}

bool
local_top(void)
{
	scoped_close int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	return local_is(fd);
}
