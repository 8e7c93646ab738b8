/* A file in the place of ".git", and where it leads. */
#include <sys/stat.h>

#include <fcntl.h>
#include <string.h>

#include "limits.h"
#include "scope.h"
#include "text.h"

#include "harmless.h"
#include "harmless_files.h"

bool
harmless_join(const char *below, const char *path, char *to, size_t size)
{
	if (!text_copy(to, size, below))
		return false;
	while (*path) {
		size_t length = strcspn(path, "/"), end = strlen(to);

		if (length == 2 && memcmp(path, "..", 2) == 0) {
			if (end == 0)
				return false; /* out of the root */
			while (end > 0 && to[--end] != '/')
				;
			to[end] = '\0';
		} else if (length > 0 && !(length == 1 && *path == '.')) {
			if (end + length + 2 > size)
				return false;
			if (end > 0)
				to[end++] = '/';
			memcpy(to + end, path, length);
			to[end + length] = '\0';
		}
		path += length + (path[length] == '/');
	}
	return true;
}

bool
harmless_target(const char *text, size_t length, const char *root, const char *below, char *to, size_t size)
{
	static const char begin[] = "gitdir: ";
	const size_t skip = strlen(begin);
	char path[LIMIT_PATH];

	if (length <= skip + 1 || length - skip > sizeof(path) || memcmp(text, begin, skip) != 0 ||
	    memchr(text, '\0', length) || memchr(text, '\n', length) != text + length - 1)
		return false;
	memcpy(path, text + skip, length - skip - 1);
	path[length - skip - 1] = '\0';
	if (path[0] != '/')
		return harmless_join(below, path, to, size);
	return text_path_is_clean(path) && text_path_within(path, root) &&
	    harmless_join("", path + strlen(root), to, size);
}

static bool
is_among_objects(const char *path)
{
	const char *found = strstr(path, "objects");

	for (; found; found = strstr(found + 1, "objects"))
		if ((found == path || found[-1] == '/') && (!found[7] || found[7] == '/'))
			return true;
	return false;
}

bool
harmless_pointer(int at, const char *name, int root_fd, const char *root, const char *below)
{
	char text[LIMIT_PATH + 16], to[LIMIT_PATH];
	ssize_t length = harmless_read(at, name, text, sizeof(text));
	struct stat seen;
	scoped_close int target = -1;

	if (length <= 0 || !harmless_target(text, (size_t)length, root, below, to, sizeof(to)) ||
	    is_among_objects(to))
		return false;
	target = harmless_open(root_fd, *to ? to : ".", O_DIRECTORY);
	return target >= 0 && fstatat(target, "HEAD", &seen, AT_SYMLINK_NOFOLLOW) == 0;
}
