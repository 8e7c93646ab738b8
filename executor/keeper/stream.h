#ifndef STREAM_H
#define STREAM_H

/*
 * One output stream of a job: every byte is counted and hashed, masked, and only then cut to a
 * head and a tail.  The head goes to the file as it comes, the tail at the end.
 *
 *   raw bytes -> count, SHA-256 -> redactor -> head (keep / 2) -> file
 *                                           -> tail (keep - keep / 2), a ring in memory
 *
 * While no more than keep_bytes came, head and tail together are everything.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "digest.h"
#include "run.h"
#include "secrets.h"

struct stream {
	int file_fd;              /* the caller's */
	uint64_t bytes;           /* raw */
	struct digest_state raw;
	struct redactor *redactor;

	uint64_t head_room;       /* masked bytes that still belong to the head */
	unsigned char *ring;
	size_t ring_size;
	uint64_t ring_bytes;      /* all that went into the ring, kept or not */

	uint64_t stored_bytes;    /* in the file */
	struct digest_state stored;
	int fault;                /* errno of the first write that failed, 0: none */
};

/* False when there is not enough memory.  stream: must stay where it is until stream_close(). */
bool stream_open(struct stream *stream, int file_fd, uint64_t keep_bytes);

/* Mask this line too, before the first stream_feed(); false as redact_hide(). */
bool stream_hide(struct stream *stream, const void *bytes, size_t length);

void stream_feed(struct stream *stream, const void *bytes, size_t length);

/* The job has ended: write the tail, sync the file, fill *end.  Once. */
void stream_finish(struct stream *stream, struct stream_end *end);

void stream_close(struct stream *stream);

#endif
