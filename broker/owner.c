/* Is a program that would be run in place really root's? */
#include <sys/stat.h>

#include <string.h>

#include "limits.h"
#include "text.h"

#include "owner.h"

static bool
is_roots(const char *path)
{
	struct stat stat;

	return lstat(path, &stat) == 0 && !S_ISLNK(stat.st_mode) && stat.st_uid == 0 &&
	    !(stat.st_mode & (S_IWGRP | S_IWOTH));
}

bool
owner_is_root(const char *target)
{
	char path[LIMIT_PATH];

	if (!text_path_is_clean(target) || !text_copy(path, sizeof(path), target) || !is_roots("/"))
		return false;
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (!is_roots(path))
			return false;
		*slash = '/';
	}
	return is_roots(path);
}
