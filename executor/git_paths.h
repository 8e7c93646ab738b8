#ifndef GIT_PATHS_H
#define GIT_PATHS_H

/*
 * Files that a repository's configuration makes git believe beside those that it has anyway: core.hooksPath,
 * include.path and includeIf.*.path.  Reads what git's config.c reads, and where that would stop at an error it goes
 * on with the next line: rather a path too many.
 */
#include <stdbool.h>
#include <stddef.h>

#include "limits.h"

/* A value, without quotes and escapes.  0 to go on. */
typedef int git_paths_found(void *context, bool hooks, const char *value);

/* What `found` returned, or 0; -1 with errno ENAMETOOLONG for a value longer than a path. */
int git_paths(const char *text, size_t length, git_paths_found *found, void *context);

#endif
