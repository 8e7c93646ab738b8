/* A working directory as its descriptor shows it. */
#include <sys/stat.h>

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "text.h"

#include "workdir.h"

static bool
was_opened_for_reading(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && !(flags & O_PATH) && (flags & O_ACCMODE) == O_RDONLY;
}

static bool
read_path(int fd, char path[LIMIT_PATH])
{
	char link[64];
	ssize_t length;

	text_format(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, LIMIT_PATH);
	if (length <= 0 || length >= LIMIT_PATH)
		return false;
	path[length] = '\0';
	return strlen(path) == (size_t)length && text_path_is_clean(path);
}

static void
read_handle(int fd, struct workdir *workdir)
{
	union {
		struct file_handle header;
		char space[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} handle = { .header.handle_bytes = MAX_HANDLE_SZ };
	int mount;

	workdir->handle_length = 0;
	if (name_to_handle_at(fd, "", &handle.header, &mount, AT_EMPTY_PATH) < 0 ||
	    handle.header.handle_bytes > MAX_HANDLE_SZ)
		return; /* this filesystem has none */
	for (unsigned i = 0; i < 4; i++)
		workdir->handle[i] = (unsigned char)((uint32_t)handle.header.handle_type >> 8 * i);
	memcpy(workdir->handle + 4, handle.header.f_handle, handle.header.handle_bytes);
	workdir->handle_length = 4 + handle.header.handle_bytes;
}

bool
workdir_read(int fd, struct workdir *workdir, const char **why)
{
	struct stat st;
	struct statx birth;

	if (fstat(fd, &st) < 0 || !S_ISDIR(st.st_mode)) {
		*why = "the working directory must be a directory";
		return false;
	}
	if (!was_opened_for_reading(fd)) {
		*why = "the working directory must be opened for reading, not with O_PATH";
		return false;
	}
	if (st.st_nlink == 0) {
		*why = "the working directory has been removed";
		return false;
	}
	if (!read_path(fd, workdir->path)) {
		*why = "the working directory has no path here";
		return false;
	}
	if (!text_is_utf8(workdir->path, strlen(workdir->path))) {
		*why = "the working directory's path is not UTF-8";
		return false;
	}
	workdir->dev = st.st_dev;
	workdir->ino = st.st_ino;
	workdir->uid = st.st_uid;
	workdir->gid = st.st_gid;
	workdir->birth_ns = 0;
	if (statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &birth) == 0 && birth.stx_mask & STATX_BTIME)
		workdir->birth_ns =
		    (uint64_t)birth.stx_btime.tv_sec * 1000000000u + birth.stx_btime.tv_nsec;
	read_handle(fd, workdir);
	return true;
}
