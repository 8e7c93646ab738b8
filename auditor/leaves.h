#ifndef LEAVES_H
#define LEAVES_H

/* Lines of the past, read again for their leaf hashes. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The leaves [seq, seq + count) from the segments of this folder; false: not all are there. */
bool leaves_read(int folder_fd, uint64_t seq, size_t count, uint8_t (*leaves)[32]);

#endif
