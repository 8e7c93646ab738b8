#ifndef WHOLE_H
#define WHOLE_H

/* read(2) and write(2) until there is nothing left to do: a short one and EINTR are gone over. */
#include <sys/types.h>

#include <stddef.h>

/* All of it: 0, or -1 with errno; a part may be written then.  EIO: a write of nothing. */
int whole_write(int fd, const void *bytes, size_t length);

/* Up to size bytes, fewer only at the end: how many (== size: there may be more), or -1 with errno. */
ssize_t whole_read(int fd, void *bytes, size_t size);

#endif
