/* The executor's mount namespace. */
#include <sys/mount.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "become.h"
#include "box.h"
#include "nsmap.h"
#include "scope.h"
#include "text.h"

#define MASK_FLAGS (MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY)
#define BOX_INODES "8192" /* 64 slots times 64 roots, and room for the executor */

static bool
same_file(int one_fd, int other_fd)
{
	struct stat one, other;

	return fstat(one_fd, &one) == 0 && fstat(other_fd, &other) == 0 && one.st_dev == other.st_dev &&
	    one.st_ino == other.st_ino;
}

/* Cover a folder; when known_fd is given, only if it is that very folder. */
static void
mask(const char *path, int known_fd)
{
	scoped_close int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char magic[32];

	if (fd < 0)
		become_fail(path);
	if (known_fd >= 0 && !same_file(fd, known_fd)) {
		errno = ESTALE;
		become_fail(path);
	}
	if (!text_format(magic, sizeof(magic), "/proc/self/fd/%d", fd) ||
	    mount("tmpfs", magic, "tmpfs", MASK_FLAGS, "mode=0,size=4k,nr_inodes=2") < 0)
		become_fail(path);
}

static void
make_folder(const char *path, mode_t mode)
{
	if (mkdir(path, mode) < 0 || chmod(path, mode) < 0)
		become_fail(path);
}

/* An empty box: everybody may pass, only root makes entries; in own/ the executor does. */
static void
make_box(const struct launch *launch)
{
	const char *box = launch->boot.box_dir;
	char path[LIMIT_PATH];

	if (mount("tmpfs", box, "tmpfs", MS_NOSUID | MS_NODEV, "mode=711,nr_inodes=" BOX_INODES) < 0)
		become_fail("mount the box");
	if (!text_format(path, sizeof(path), "%s/own", box))
		become_fail("box");
	make_folder(path, 0711);
	if (chown(path, launch->executor.uid, launch->executor.gid) < 0)
		become_fail("box/own");
	if (!text_format(path, sizeof(path), "%s/idm", box))
		become_fail("box");
	make_folder(path, 0711);
}

/*
 * A detached copy of the root's mount whose owner is seen as the job (without a namespace: as it is), and of
 * all that is mounted below: what a job wrote at the place of a mount that it does not see would lie under
 * that mount, for nobody to find.  Of a read path that mount alone.  -1 with errno.
 */
static int
clone_root(const struct boot_root *root, int root_fd, int namespace_fd)
{
	unsigned recursive = root->flags & ROOT_EXTRA_READ ? 0 : AT_RECURSIVE;
	struct mount_attr attr = {
		.attr_set = (namespace_fd < 0 ? 0u : MOUNT_ATTR_IDMAP) | MOUNT_ATTR_NOSUID |
		    MOUNT_ATTR_NODEV |
		    (root->flags & (ROOT_READ_ONLY | ROOT_EXTRA_READ) ? MOUNT_ATTR_RDONLY : 0u),
		.userns_fd = namespace_fd < 0 ? 0 : (unsigned)namespace_fd,
	};
	scoped_close int fd = open_tree(AT_FDCWD, root->path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC |
	    AT_SYMLINK_NOFOLLOW | recursive);

	if (fd < 0)
		return -1;
	if (!same_file(fd, root_fd)) {
		errno = ESTALE;
		return -1;
	}
	if (mount_setattr(fd, "", AT_EMPTY_PATH | recursive, &attr, sizeof(attr)) < 0)
		return -1;
	return scope_keep(&fd);
}

/* Do all slots see it the same way, with the owners it has on disk? */
static bool
is_plain(const struct boot_root *root)
{
	return root->flags & (ROOT_EXTRA_READ | ROOT_RUN_AS_OWNER);
}

static int
namespace_of(const struct launch *launch, const struct boot_root *root, unsigned slot)
{
	uid_t job = launch->boot.slots[slot].job;

	return nsmap_for_mount((struct identity){ root->uid, root->gid }, (struct identity){ job, job });
}

/* A folder, or for a single file an empty one. */
static void
make_point(const char *path, int root_fd)
{
	scoped_close int fd = -1;
	struct stat st;

	if (fstat(root_fd, &st) < 0)
		become_fail(path);
	if (S_ISDIR(st.st_mode)) {
		make_folder(path, 0711);
		return;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		become_fail(path);
}

static void
mount_root(const struct launch *launch, unsigned slot, unsigned index)
{
	const struct boot_root *root = &launch->boot.roots[index];
	bool plain = is_plain(root);
	scoped_close int namespace_fd = plain ? -1 : namespace_of(launch, root, slot);
	scoped_close int fd = -1;
	char path[LIMIT_PATH];

	if (!plain && namespace_fd < 0)
		become_fail("a user namespace for an idmapped mount");
	fd = clone_root(root, launch->root_fds[index], namespace_fd);
	if (fd < 0)
		become_fail(root->path);
	if (!text_format(path, sizeof(path), "%s/idm/%u/%u", launch->boot.box_dir, slot, index))
		become_fail("box");
	make_point(path, launch->root_fds[index]);
	if (move_mount(fd, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		become_fail(root->path);
}

static void
mount_roots(const struct launch *launch)
{
	char path[LIMIT_PATH];

	for (unsigned slot = 0; slot < launch->boot.slot_count; slot++) {
		if (!text_format(path, sizeof(path), "%s/idm/%u", launch->boot.box_dir, slot))
			become_fail("box");
		make_folder(path, 0711);
		for (unsigned index = 0; index < launch->boot.root_count; index++)
			/* what all see the same way is there once */
			if (slot == 0 || !is_plain(&launch->boot.roots[index]))
				mount_root(launch, slot, index);
	}
}

void
box_build(const struct launch *launch)
{
	const struct place *place = &launch->place;

	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		become_fail("make all mounts private");
	/* A job's proc is only allowed where a proc without covered parts is in sight. */
	if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
		become_fail("mount /proc");
	make_box(launch);
	mount_roots(launch);
	mask(place->state, launch->state_fd);
	/* The system's sockets lie below the box already. */
	if (strcmp(place->runtime, place->state) != 0 && strcmp(place->runtime, launch->boot.box_dir) != 0)
		mask(place->runtime, -1);
}

int
box_try_root(const struct launch *launch, const struct boot_root *root, int root_fd)
{
	bool plain = is_plain(root);
	scoped_close int namespace_fd = plain ? -1 : namespace_of(launch, root, 0);
	scoped_close int fd = !plain && namespace_fd < 0 ? -1 : clone_root(root, root_fd, namespace_fd);

	return fd < 0 ? -1 : 0;
}
