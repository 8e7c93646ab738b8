#ifndef JOURNAL_H
#define JOURNAL_H

/*
 * The segment that is written: append and sync, reserve space ahead, begin the next one.  A
 * segment appears under its name only with its first lines in it, durable.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JOURNAL_SEGMENT_BYTES (64u << 20) /* rotate beyond */
#define JOURNAL_RESERVE_BYTES (4u << 20)  /* preallocated: the ends of 64 runs and what they entail */
#define JOURNAL_LOW_BYTES (2u << 20)      /* less than this ahead, and no more to get: space is low */

enum journal_place {
	JOURNAL_PLACE_REFUSED,  /* network, FUSE, overlay: no promise can be made there */
	JOURNAL_PLACE_DEGRADED, /* works, but overwriting in place may not erase */
	JOURNAL_PLACE_FULL,     /* ext4, xfs */
};

struct journal {
	int folder_fd;      /* someone else's */
	int fd;             /* -1: no segment is open */
	uint64_t first_seq;
	uint64_t size;
	uint64_t reserved;  /* the segment may grow up to here; at least size */
	bool behind;        /* something was appended and is not synced yet */
	bool broken;        /* a write or sync failed: nothing may be written any more */
};

/* What the filesystem of this folder promises; an unreadable one is refused. */
enum journal_place journal_place(int folder_fd);

/* Open an existing segment for appending; -1 with errno. */
int journal_open(struct journal *journal, int folder_fd, uint64_t first_seq);

/*
 * Make the next segment with its first lines; it becomes the open one.  -1 with errno (EEXIST: the
 * name is taken); then nothing has appeared.
 */
int journal_create(struct journal *journal, int folder_fd, uint64_t first_seq, const char *bytes, size_t length);

/*
 * Append; it survives this process, and a power cut after journal_sync().  -1 with errno: how much
 * is on disk is unknown, the journal is broken and the process must end.  ESTALE: somebody else has
 * shortened, renamed or replaced the file; nothing was written.
 */
int journal_append(struct journal *journal, const char *bytes, size_t length);

/* All that was appended is durable when this returns 0; -1 with errno, as above. */
int journal_sync(struct journal *journal);

/* Reserve ahead when less than JOURNAL_LOW_BYTES is left; false: space is low and stays so. */
bool journal_reserve(struct journal *journal);

/* Bytes that can be appended without asking the filesystem for more. */
uint64_t journal_room(const struct journal *journal);

void journal_close(struct journal *journal);

/* Make a file of the log folder that appears whole or not at all; -1 with errno. */
int journal_publish(int folder_fd, const char *name, const char *bytes, size_t length);

#endif
