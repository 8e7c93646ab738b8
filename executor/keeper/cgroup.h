#ifndef CGROUP_H
#define CGROUP_H

/* The job's cgroup through descriptors that the executor opened (cgroup-v2.rst of Linux). */
#include <stdbool.h>
#include <stdint.h>

/* Where there is no cgroup, or no such controller, the place holds /dev/null. */
bool cgroup_has(int fd);

/* The number after `key` on its own line of a flat keyed file ("oom_kill 1\n"); false when it is not there. */
bool cgroup_find(const char *text, const char *key, uint64_t *value);

/* The same from an open file, read from its start.  key NULL: the file is one number. */
bool cgroup_read(int fd, const char *key, uint64_t *value);

/* End everything in it, also what is frozen or being forked now.  Does nothing where there is none. */
void cgroup_kill(int kill_fd);

#endif
