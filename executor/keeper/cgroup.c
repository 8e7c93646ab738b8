/* Files of a job's cgroup. */
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cgroup.h"
#include "log.h"
#include "text.h"

#define FILE_BYTES 4096 /* cgroup files of this kind are a page at most */

bool
cgroup_has(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && !(S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3));
}

/* The number at the begin of a line. */
static bool
read_number(const char *text, uint64_t *value)
{
	char digits[24];
	size_t length = strcspn(text, "\n");

	if (length >= sizeof(digits))
		return false;
	memcpy(digits, text, length);
	digits[length] = '\0';
	return text_number(digits, UINT64_MAX, value);
}

bool
cgroup_find(const char *text, const char *key, uint64_t *value)
{
	size_t length = strlen(key);

	while (*text) {
		if (strncmp(text, key, length) == 0 && text[length] == ' ')
			return read_number(text + length + 1, value);
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return false;
}

bool
cgroup_read(int fd, const char *key, uint64_t *value)
{
	char text[FILE_BYTES];
	ssize_t length = pread(fd, text, sizeof(text) - 1, 0);

	if (length < 0)
		return false;
	text[length] = '\0';
	return key ? cgroup_find(text, key, value) : read_number(text, value);
}

void
cgroup_kill(int kill_fd)
{
	if (cgroup_has(kill_fd) && write(kill_fd, "1", 1) != 1)
		log_errno("cgroup.kill");
}
