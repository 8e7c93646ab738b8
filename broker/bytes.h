#ifndef BYTES_H
#define BYTES_H

/* A run of bytes that somebody owns: free(at). */
#include <stddef.h>

struct bytes {
	unsigned char *at; /* never NULL once loaded; a NUL follows the last byte */
	size_t length;
};

/* A copy (of NULL: zeroes) with a NUL behind it; out of memory ends the process. */
struct bytes bytes_copy(const void *at, size_t length);
void bytes_free(struct bytes *bytes);

/* The same text copied, or NULL for NULL; out of memory ends the process. */
char *bytes_text(const char *text);

/* Zeroed memory; out of memory ends the process. */
void *bytes_make(size_t size);

#endif
