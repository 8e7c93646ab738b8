/* Folders and files without surprises: no link, no foreign owner, nothing that others may write. */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "folders.h"
#include "refuse.h"
#include "scope.h"
#include "text.h"

#define WRITABLE_BY_OTHERS (S_IWGRP | S_IWOTH)

/* Owner and mode of a folder that we have just made. */
static void
dress(int fd, const char *path, const char *name, const struct folder_wish *wish)
{
	bool done = fchown(fd, wish->owner.uid, wish->owner.gid) == 0 && fchmod(fd, wish->mode) == 0;

	if (!done && errno == EINVAL)
		refuse_start("cage_unavailable", "uid %u does not exist in this container's id map: start as an"
		    " ordinary user of the container", wish->owner.uid);
	if (!done)
		refuse_start("internal_error", "%s/%s: %s", path, name, strerror(errno));
}

/* Owner and mode of a folder that was there.  chmod only where it is needed: an append-only folder refuses it. */
static void
inspect(int fd, const char *path, const char *name, const struct folder_wish *wish)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		refuse_start("internal_error", "%s/%s: %s", path, name, strerror(errno));
	if (st.st_uid != wish->owner.uid)
		refuse_start("invalid_input", "%s/%s belongs to uid %u, not to %u", path, name, st.st_uid,
		    wish->owner.uid);
	if (st.st_mode & WRITABLE_BY_OTHERS)
		refuse_start("invalid_input", "%s/%s can be written by others (mode %04o)", path, name,
		    st.st_mode & 07777);
	if (st.st_gid != wish->owner.gid && fchown(fd, (uid_t)-1, wish->owner.gid) < 0)
		refuse_start("internal_error", "%s/%s: group: %s", path, name, strerror(errno));
	if ((st.st_mode & 07777 & ~wish->mode) && fchmod(fd, wish->mode) < 0)
		refuse_start("internal_error", "%s/%s: mode: %s", path, name, strerror(errno));
}

int
folders_make(int parent_fd, const char *path, const char *name, const struct folder_wish *wish)
{
	bool made = mkdirat(parent_fd, name, 0700) == 0;
	int fd;

	if (!made && errno != EEXIST)
		refuse_start("invalid_input", "%s/%s: %s", path, name, strerror(errno));
	fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && (errno == ELOOP || errno == ENOTDIR))
		refuse_start("invalid_input", "%s/%s is a link or no folder", path, name);
	if (fd < 0)
		refuse_start("invalid_input", "%s/%s: %s", path, name, strerror(errno));
	if (made)
		dress(fd, path, name, wish);
	else
		inspect(fd, path, name, wish);
	return fd;
}

/* A parent of the state: it may belong to anybody, but not be one where everybody can swap folders. */
static int
enter_parent(int parent_fd, const char *path, const char *name, const struct folder_wish *own)
{
	int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 && errno == EACCES) /* search permission is enough to pass */
		fd = openat(parent_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return folders_make(parent_fd, path, name, own);
	if (fd < 0 || fstat(fd, &st) < 0)
		refuse_start("invalid_input", "%s/%s: %s", path, name, strerror(errno));
	if ((st.st_mode & S_IWOTH) && !(st.st_mode & S_ISVTX))
		refuse_start("invalid_input", "everybody can write the folder %s/%s (mode %04o)", path, name,
		    st.st_mode & 07777);
	return fd;
}

int
folders_make_path(const char *path, const struct folder_wish *last)
{
	uid_t uid = geteuid();
	const struct folder_wish own = {
		.owner = { uid, getegid() }, .mode = uid == 0 ? 0755 : 0700,
	};
	char rest[LIMIT_PATH], parent[LIMIT_PATH] = "", *at = rest, *name;
	size_t length;
	int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || !text_copy(rest, sizeof(rest), path + 1) || rest[0] == '\0')
		refuse_start("invalid_input", "%s cannot be the state's folder", path);
	while ((name = strsep(&at, "/"))) {
		int next = at ? enter_parent(fd, parent, name, &own) : folders_make(fd, parent, name, last);

		close(fd);
		fd = next;
		length = strlen(parent);
		text_format(parent + length, sizeof(parent) - length, "/%s", name);
	}
	return fd;
}

int
folders_open_file(int folder_fd, const char *path, const char *name, int flags, mode_t mode)
{
	int fd = openat(folder_fd, name, flags | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, mode);
	struct stat st;

	if (fd < 0 && errno == ELOOP)
		refuse_start("invalid_input", "%s/%s is a link", path, name);
	if (fd < 0 || fstat(fd, &st) < 0)
		refuse_start("invalid_input", "%s/%s: %s", path, name, strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_nlink != 1)
		refuse_start("invalid_input", "%s/%s is no plain file of its own", path, name);
	if (st.st_uid != geteuid() || (st.st_mode & WRITABLE_BY_OTHERS))
		refuse_start("invalid_input", "%s/%s belongs to uid %u with mode %04o", path, name, st.st_uid,
		    st.st_mode & 07777);
	return fd;
}

void
folders_write_file(int folder_fd, const char *path, const char *name, const void *bytes, size_t length,
    mode_t mode)
{
	scoped_close int fd = -1;
	char fresh[64];

	if (!text_format(fresh, sizeof(fresh), "%s.new", name) ||
	    (unlinkat(folder_fd, fresh, 0) < 0 && errno != ENOENT))
		refuse_start("internal_error", "%s/%s.new: %s", path, name, strerror(errno));
	fd = openat(folder_fd, fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, bytes, length) != (ssize_t)length || fchmod(fd, mode) < 0 ||
	    renameat(folder_fd, fresh, folder_fd, name) < 0)
		refuse_start("internal_error", "%s/%s: %s", path, name, strerror(errno));
}
