/* Reading and writing the whole of something. */
#include <errno.h>
#include <unistd.h>

#include "whole.h"

int
whole_write(int fd, const void *bytes, size_t length)
{
	const char *at = bytes;

	while (length > 0) {
		ssize_t written = write(fd, at, length);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0) {
			errno = written < 0 ? errno : EIO;
			return -1;
		}
		at += written;
		length -= (size_t)written;
	}
	return 0;
}

ssize_t
whole_read(int fd, void *bytes, size_t size)
{
	size_t held = 0;

	while (held < size) {
		ssize_t got = read(fd, (char *)bytes + held, size - held);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0)
			break;
		held += (size_t)got;
	}
	return (ssize_t)held;
}
