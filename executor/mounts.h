#ifndef MOUNTS_H
#define MOUNTS_H

/*
 * The kernel's mount calls by descriptor (open_tree, mount_setattr, move_mount; since 5.2 and
 * 5.12).  Async-signal-safe.  All return 0 or a descriptor, or -1 with errno.
 */
#include <stdint.h>
#include <sys/types.h>

/* MOUNT_ATTR_* of linux/mount.h */
#define MOUNTS_READ_ONLY 0x1u
#define MOUNTS_NO_SUID 0x2u
#define MOUNTS_NO_DEV 0x4u
#define MOUNTS_NO_EXEC 0x8u
#define MOUNTS_TREE (MOUNTS_NO_SUID | MOUNTS_NO_DEV)                  /* what a job may write to */
/* what it may only read */
#define MOUNTS_SYSTEM (MOUNTS_READ_ONLY | MOUNTS_NO_SUID | MOUNTS_NO_DEV)

/*
 * A detached copy of the tree at path (relative to at), submounts too, with these attributes on
 * every mount of it; read back on the topmost.
 */
int mounts_copy(int at, const char *path, uint64_t attributes);

/* Put a detached tree onto path (relative to at); closes tree in any case. */
int mounts_attach(int tree, int at, const char *path);

/*
 * For a path that a job or its owner can change: the file itself, no link on the way (ELOOP), as
 * O_PATH; and a tree put exactly there.  Closes tree in any case.
 */
int mounts_open(int at, const char *path);
int mounts_attach_to(int tree, int file);

/* Mount what lies at this path on itself, with these attributes; no link on the way. */
int mounts_fasten(const char *path, uint64_t attributes);

/* mounts_copy() and mounts_attach() in one. */
int mounts_show(int from_at, const char *from, int at, const char *path, uint64_t attributes);

/* Set attributes on the one mount at path. */
int mounts_set(int at, const char *path, uint64_t attributes);

/*
 * Make the path (absolute, clean) below the directory `at` exist: directories on the way 0755,
 * the last component a directory or an empty file 0644.  What exists is left alone; a symbolic
 * link on the way is an error (ELOOP).
 */
int mounts_point(int at, const char *path, int is_file);

#endif
