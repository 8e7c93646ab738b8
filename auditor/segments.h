#ifndef SEGMENTS_H
#define SEGMENTS_H

/*
 * The files of a log folder.  A closed segment may lie there compressed, as seg-….jsonl.zst; where
 * the plain file is there too that one counts, and the other is a stranger.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEGMENTS_ANCHORS "anchors.jsonl" /* what is left of segments that were removed */

struct segments {
	uint64_t *first_seqs; /* ascending; malloc()ed */
	size_t count;
	bool has_anchors;     /* SEGMENTS_ANCHORS is there */
	char **strangers;     /* names of files that do not belong here */
	size_t stranger_count;
};

/* List the folder; 0, or -1 with errno.  Free with segments_free(). */
int segments_list(int folder_fd, struct segments *segments);
void segments_free(struct segments *segments);

/* Was the beginning removed?  Then the anchors come first. */
bool segments_begin_late(const struct segments *segments);

/*
 * Open one segment, plain or else compressed, or UINT64_MAX: the anchors, for reading; -1 with errno
 * (EINVAL: not a regular file, ELOOP: a link).
 */
int segments_open(int folder_fd, uint64_t first_seq);

/* What that errno says of the file. */
const char *segments_why(int error);

/* "seg-<20 digits>.jsonl", or that with ".zst" behind it. */
bool segments_read_name(const char *name, uint64_t *first_seq);

#endif
