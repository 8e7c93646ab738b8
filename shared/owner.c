/* Is a program that would be run in place really root's? */
#include <sys/stat.h>

#include <string.h>

#include "limits.h"
#include "text.h"

#include "owner.h"

static bool
belongs_to(const char *path, uid_t owner)
{
	struct stat stat;

	return lstat(path, &stat) == 0 && !S_ISLNK(stat.st_mode) && stat.st_uid == owner &&
	    !(stat.st_mode & (S_IWGRP | S_IWOTH));
}

bool
owner_is_root(const char *target)
{
	char path[LIMIT_PATH];
	struct stat top;

	if (!text_path_is_clean(target) || !text_copy(path, sizeof(path), target) ||
	    lstat("/", &top) < 0)
		return false;
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (!belongs_to(path, top.st_uid))
			return false;
		*slash = '/';
	}
	return belongs_to(path, top.st_uid);
}
