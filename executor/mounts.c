/* Mounts by descriptor. */
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <string.h>
#include <unistd.h>

#include "limits.h"
#include "scope.h"

#include "mounts.h"

_Static_assert(MOUNTS_READ_ONLY == ST_RDONLY && MOUNTS_NO_SUID == ST_NOSUID &&
    MOUNTS_NO_DEV == ST_NODEV && MOUNTS_NO_EXEC == ST_NOEXEC, "those of statfs(2)");
_Static_assert(MOUNTS_READ_ONLY == MOUNT_ATTR_RDONLY && MOUNTS_NO_SUID == MOUNT_ATTR_NOSUID &&
    MOUNTS_NO_DEV == MOUNT_ATTR_NODEV && MOUNTS_NO_EXEC == MOUNT_ATTR_NOEXEC, "the kernel's bits");

#define RECURSIVE 0x8000 /* AT_RECURSIVE */

static int
set_attributes(int at, const char *path, unsigned flags, uint64_t attributes)
{
	struct mount_attr attr = { .attr_set = attributes };

	return (int)syscall(SYS_mount_setattr, at, path, flags, &attr, sizeof(attr));
}

/* Do they hold on the topmost mount?  statfs(2) tells them with the same bits. */
static int
check_attributes(int tree, uint64_t attributes)
{
	struct statfs seen;

	if (fstatfs(tree, &seen) < 0)
		return -1;
	if (((uint64_t)seen.f_flags & attributes) == attributes)
		return 0;
	errno = EPERM;
	return -1;
}

int
mounts_copy(int at, const char *path, uint64_t attributes)
{
	scoped_close int tree = (int)syscall(SYS_open_tree, at, path,
	    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | RECURSIVE);

	if (tree < 0)
		return -1;
	if (set_attributes(tree, "", AT_EMPTY_PATH | RECURSIVE, attributes) < 0 ||
	    check_attributes(tree, attributes) < 0)
		return -1;
	return scope_keep(&tree);
}

int
mounts_attach(int tree, int at, const char *path)
{
	int done = (int)syscall(SYS_move_mount, tree, "", at, path, MOVE_MOUNT_F_EMPTY_PATH);
	int saved = errno;

	close(tree);
	errno = saved;
	return done;
}

int
mounts_open(int at, const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS };

	return (int)syscall(SYS_openat2, at, path, &how, sizeof(how));
}

int
mounts_attach_to(int tree, int file)
{
	int done = (int)syscall(SYS_move_mount, tree, "", file, "",
	    MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
	int saved = errno;

	close(tree);
	errno = saved;
	return done;
}

int
mounts_fasten(const char *path, uint64_t attributes)
{
	scoped_close int place = mounts_open(AT_FDCWD, path);
	int tree = place < 0 ? -1 : mounts_copy(place, "", attributes);

	return tree < 0 ? -1 : mounts_attach_to(tree, place);
}

int
mounts_show(int from_at, const char *from, int at, const char *path, uint64_t attributes)
{
	int tree = mounts_copy(from_at, from, attributes);

	return tree < 0 ? -1 : mounts_attach(tree, at, path);
}

int
mounts_set(int at, const char *path, uint64_t attributes)
{
	return set_attributes(at, path, 0, attributes);
}

/* One step down: make it when it is missing, never follow a link. */
static int
step(int at, const char *name, int is_file)
{
	if (is_file) {
		scoped_close int file = openat(at, name,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);

		if (file < 0 && errno != EEXIST)
			return -1;
	} else if (mkdirat(at, name, 0755) < 0 && errno != EEXIST)
		return -1;
	return openat(at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC | (is_file ? 0 : O_DIRECTORY));
}

int
mounts_point(int at, const char *path, int is_file)
{
	scoped_close int here = openat(at, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	char name[256];

	while (here >= 0 && *path == '/') {
		size_t length = strcspn(path + 1, "/");
		int next;

		if (length == 0 || length >= sizeof(name)) {
			errno = EINVAL;
			return -1;
		}
		memcpy(name, path + 1, length);
		name[length] = '\0';
		path += length + 1;
		next = step(here, name, is_file && *path == '\0');
		close(here);
		here = next;
	}
	return here < 0 ? -1 : 0;
}
