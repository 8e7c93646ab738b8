/* A result is written under another name and renamed. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "keep.h"
#include "log.h"
#include "result.h"

#define RESULT_NEW "result.new"

int
result_reserve(int folder_fd)
{
	int fd = openat(folder_fd, RESULT_NEW, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640);
	int error;

	if (fd < 0)
		return -1;
	error = posix_fallocate(fd, 0, sizeof(struct run_result));
	if (error != 0)
		log_warn("no room for the result yet: %s", strerror(error));
	return fd;
}

static bool
write_whole(int fd, const void *bytes, size_t length)
{
	size_t done = 0;

	while (done < length) {
		ssize_t written = pwrite(fd, (const char *)bytes + done, length - done, (off_t)done);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return false;
		done += (size_t)written;
	}
	return true;
}

bool
result_store(int result_fd, int folder_fd, const struct run_result *result)
{
	if (!write_whole(result_fd, result, sizeof(*result))) {
		log_errno("write the result");
		return false;
	}
	if (renameat(folder_fd, RESULT_NEW, folder_fd, KEEP_RESULT) < 0) {
		log_errno("name the result");
		return false;
	}
	return true;
}

bool
result_sync(int result_fd, int folder_fd)
{
	if (fsync(result_fd) == 0 && fsync(folder_fd) == 0)
		return true;
	log_errno("sync the result");
	return false;
}
