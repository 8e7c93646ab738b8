#ifndef ASK_H
#define ASK_H

/*
 * What doctor asks this machine: one function per question, which tests can replace.  What the answers mean is
 * probe.c's.
 */
#include <stdbool.h>
#include <stddef.h>

/* The kernel's release: "6.1.0-18-amd64". */
void ask_release(char *text, size_t size);

/* The begin of a small file, as much as fits, with its NUL; false when it is not there or cannot be read. */
bool ask_file(const char *path, char *text, size_t size);

/* Why there is no Landlock: EOPNOTSUPP when it is not switched on, ENOSYS when the kernel has none. */
int ask_landlock_error(void);

/*
 * A namespace of one kind (CLONE_NEWPID), made by a child of its own; an ordinary account's child makes it inside a
 * user namespace.  0, or the errno.
 */
int ask_namespace(int kind);

/* Raise loopback in a network namespace of a child's own: 0, or the errno. */
int ask_loopback(void);

/* Where cgroup v2 is: alone, or beside v1; NULL: nowhere. */
const char *ask_cgroup_root(void);

#endif
