#ifndef HARMLESS_FILES_H
#define HARMLESS_FILES_H

/* For harmless*.c: files that a job may have made, by descriptor and through no link. */
#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A descriptor to read from (flags: more of open(2)), or -1 with errno. */
int harmless_open(int at, const char *name, uint64_t flags);

/* A whole regular file with one name, when it is shorter than `size`: its length.  Else -1. */
ssize_t harmless_read(int at, const char *name, char *bytes, size_t size);

/*
 * `path` as seen from the directory `below`, both without what comes before the root; the result has neither "." nor
 * "..".  False when it leads out of the root or does not fit.
 */
bool harmless_join(const char *below, const char *path, char *to, size_t size);

#endif
