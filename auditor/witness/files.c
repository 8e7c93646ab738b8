/* Small files of the witness' folder. */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "scope.h"
#include "text.h"
#include "whole.h"

#include "files.h"

ssize_t
files_read(int folder_fd, const char *name, char *text, size_t size)
{
	scoped_close int fd = openat(folder_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	ssize_t held;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	errno = S_ISREG(st.st_mode) ? EFBIG : EINVAL;
	if (!S_ISREG(st.st_mode) || st.st_size >= (off_t)size)
		return -1;
	held = whole_read(fd, text, size - 1);
	if (held < 0)
		return -1;
	text[held] = '\0';
	return held;
}

int
files_write(int folder_fd, const char *name, const char *text, size_t length)
{
	char fresh[128];
	scoped_close int fd = -1;

	errno = ENAMETOOLONG;
	if (!text_format(fresh, sizeof(fresh), "%s.new", name))
		return -1;
	/* What a crash has left under this name is nobody's. */
	fd = openat(folder_fd, fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || whole_write(fd, text, length) < 0 || fsync(fd) < 0 ||
	    renameat(folder_fd, fresh, folder_fd, name) < 0)
		return -1;
	return fsync(folder_fd);
}
