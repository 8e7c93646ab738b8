/* The log's folder, with the rights of the caller. */
#include <sys/file.h>
#include <sys/ioctl.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <unistd.h>

#include "packed.h"
#include "scope.h"

#include "audit_folder.h"
#include "fault.h"

_Noreturn void
audit_folder_die(const struct audit_folder *folder, const char *what)
{
	fault_die(errno == EPERM || errno == EACCES ? "not_permitted" : "storage_error", "%s in %s: %s", what,
	    folder->path, strerror(errno));
}

void
audit_folder_open(struct audit_folder *folder)
{
	folder->fd = open(folder->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder->fd < 0 || flock(folder->fd, LOCK_EX) < 0)
		audit_folder_die(folder, "the log's folder");
}

int
audit_folder_flag(int fd, bool set, bool *was)
{
	int flags;

	*was = false;
	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) < 0)
		return errno == ENOTTY || errno == EOPNOTSUPP ? 0 : -1;
	*was = flags & FS_APPEND_FL;
	if (*was == set)
		return 0;
	flags = set ? flags | FS_APPEND_FL : flags & ~FS_APPEND_FL;
	return ioctl(fd, FS_IOC_SETFLAGS, &flags);
}

bool
audit_folder_has_flag(int fd)
{
	int flags;

	return ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0 && flags & FS_APPEND_FL;
}

void
audit_folder_remove(const struct audit_folder *folder, const char *name)
{
	scoped_close int fd = openat(folder->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool was;

	if (fd < 0 || audit_folder_flag(fd, false, &was) < 0 || unlinkat(folder->fd, name, 0) < 0)
		audit_folder_die(folder, name);
}

int
audit_folder_is_segment(const struct dirent *entry)
{
	const char *name = entry->d_name;

	return strncmp(name, "seg-", 4) == 0 && strspn(name + 4, "0123456789") == 20 &&
	    (strcmp(name + 24, ".jsonl") == 0 || strcmp(name + 24, ".jsonl" PACKED_SUFFIX) == 0);
}

bool
audit_folder_is_compressed(const char *name)
{
	return strcmp(name + strlen(name) - strlen(PACKED_SUFFIX), PACKED_SUFFIX) == 0;
}
