#ifndef FOLDERS_H
#define FOLDERS_H

/*
 * Folders and files of the state, made or found without following a link.  What
 * exists must belong to whom it should and must not be writable by others: anything
 * else ends the start, with its path named.  Descriptors are the caller's to close.
 */
#include "launch.h"

struct folder_wish {
	struct identity owner;
	mode_t mode; /* an existing folder may be narrower, never wider */
};

/* A folder below an open one.  path: of the parent, for messages. */
int folders_make(int parent_fd, const char *path, const char *name, const struct folder_wish *wish);

/* A clean absolute path; missing parents are made for ourselves (root: 0755, else 0700). */
int folders_make_path(const char *path, const struct folder_wish *last);

/* A regular file of our own; flags besides O_CREAT, O_NOFOLLOW and O_CLOEXEC. */
int folders_open_file(int folder_fd, const char *path, const char *name, int flags, mode_t mode);

/* Replace a small file as a whole. */
void folders_write_file(int folder_fd, const char *path, const char *name, const void *bytes, size_t length,
    mode_t mode);

#endif
