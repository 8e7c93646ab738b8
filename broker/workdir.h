#ifndef WORKDIR_H
#define WORKDIR_H

/* A working directory as its descriptor shows it. */
#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "limits.h"

#define WORKDIR_HANDLE 132 /* i32le type and at most MAX_HANDLE_SZ bytes */

struct workdir {
	char path[LIMIT_PATH]; /* canonical: the kernel's own text */
	uint64_t dev, ino, birth_ns; /* birth: 0 where the filesystem has none */
	unsigned char handle[WORKDIR_HANDLE];
	size_t handle_length;        /* 0 where there is none */
	uid_t uid;
	gid_t gid;
};

/*
 * fd: a directory that the peer has opened for reading.  An O_PATH descriptor proves nothing
 * (anybody can make one of any directory) and is refused.  False with *why, a constant text.
 */
bool workdir_read(int fd, struct workdir *workdir, const char **why);

#endif
