#ifndef RESULT_H
#define RESULT_H

/* The file `result` of a run folder: there whole, or not at all. */
#include <stdbool.h>

#include "run.h"

/*
 * Make result.new and reserve its space, so that output cannot take it.  A descriptor (the
 * caller's), or -1 with errno: the file could not be made.  A disk without room for it is not
 * an error yet: result_store() may find some later.
 */
int result_reserve(int folder_fd);

/* Write and rename to `result`.  False with a line in the log: may be tried again. */
bool result_store(int result_fd, int folder_fd, const struct run_result *result);

/* Onto the disk, file and name.  False with a line in the log: may be tried again. */
bool result_sync(int result_fd, int folder_fd);

#endif
