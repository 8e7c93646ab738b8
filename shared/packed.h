#ifndef PACKED_H
#define PACKED_H

/*
 * A segment of the log as it lies on the disk, plain or compressed (agent-safe-audit(7), COMPRESSION),
 * and making the second of the first.  The only file that includes zstd.h.
 *
 * A compressed segment is one Zstandard frame (RFC 8878) that states its content's size, at most
 * PACKED_MOST, with a window of at most 8 MiB, without dictionary, and nothing lies behind it.  So
 * memory is constant, whatever the file says, and no file grows beyond PACKED_MOST.
 */
#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PACKED_SUFFIX ".zst"
#define PACKED_MOST (UINT64_C(128) << 20) /* twice what a segment is rotated at */
#define PACKED_INPUT 65536

struct packed {
	int fd;          /* someone else's */
	void *decoder;   /* NULL: the file is plain */
	uint64_t left;   /* bytes of the content that must still come */
	bool ended;      /* the frame is over */
	const char *why; /* after EBADMSG: what is wrong with the file */
	size_t at, held; /* of input */
	uint8_t input[PACKED_INPUT];
};

/* Look how the file begins; -1 with errno.  packed: large.  plain_only: even if it looks compressed. */
int packed_open(struct packed *packed, int fd, bool plain_only);

/* The next bytes of the content; 0 at its end, -1 with errno (EBADMSG: see why). */
ssize_t packed_read(struct packed *packed, void *bytes, size_t size);

void packed_close(struct packed *packed);

/* Compress all of one file to another, both at their begin; -1 with errno (EFBIG: over PACKED_MOST). */
int packed_make(int from_fd, int to_fd);

#endif
