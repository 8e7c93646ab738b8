#ifndef FILES_H
#define FILES_H

/* Small files of the witness' folder: whole or not at all, durable when written. */
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* At most size - 1 bytes and a NUL; the length, or -1 with errno (EFBIG: more than fits). */
ssize_t files_read(int folder_fd, const char *name, char *text, size_t size);

/* Temp file, fsync, rename, fsync of the folder; mode 0600.  -1 with errno. */
int files_write(int folder_fd, const char *name, const char *text, size_t length);

#endif
