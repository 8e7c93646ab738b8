/*
 * Count, hash, mask, cut.
 *
 * A write that fails (a full disk) is remembered and never stops the counting: what is missing
 * in the file is the keeper's fault and must not look like the job's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stream.h"

/* Append to the file; what was really written goes into stored_bytes and the digest. */
static void
store(struct stream *stream, const unsigned char *bytes, size_t length)
{
	while (length > 0) {
		ssize_t written = write(stream->file_fd, bytes, length);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0) {
			if (stream->fault == 0)
				stream->fault = written < 0 ? errno : EIO;
			return;
		}
		digest_add(&stream->stored, bytes, (size_t)written);
		stream->stored_bytes += (uint64_t)written;
		bytes += written;
		length -= (size_t)written;
	}
}

/* After a fault the rest of the head is dropped: bytes behind a hole would look like its end. */
static size_t
feed_head(struct stream *stream, const unsigned char *bytes, size_t length)
{
	size_t part = length < stream->head_room ? length : (size_t)stream->head_room;

	if (stream->fault == 0)
		store(stream, bytes, part);
	stream->head_room -= part;
	return part;
}

static void
feed_ring(struct stream *stream, const unsigned char *bytes, size_t length)
{
	size_t at, part;

	if (stream->ring_size == 0) {
		stream->ring_bytes += length;
		return;
	}
	if (length > stream->ring_size) { /* only the last ring_size bytes can stay */
		size_t skipped = length - stream->ring_size;

		stream->ring_bytes += skipped;
		bytes += skipped;
		length = stream->ring_size;
	}
	at = (size_t)(stream->ring_bytes % stream->ring_size);
	part = stream->ring_size - at < length ? stream->ring_size - at : length;
	memcpy(stream->ring + at, bytes, part);
	memcpy(stream->ring, bytes + part, length - part);
	stream->ring_bytes += length;
}

/* The redactor's sink. */
static void
keep_masked(void *context, const void *bytes, size_t length)
{
	struct stream *stream = context;
	const unsigned char *at = bytes;
	size_t part = feed_head(stream, at, length);

	if (part < length)
		feed_ring(stream, at + part, length - part);
}

bool
stream_open(struct stream *stream, int file_fd, uint64_t keep_bytes)
{
	*stream = (struct stream){ .file_fd = file_fd, .head_room = keep_bytes / 2 };
	stream->ring_size = (size_t)(keep_bytes - keep_bytes / 2);
	stream->ring = malloc(stream->ring_size + 1); /* never malloc(0); pages come with use */
	stream->redactor = redact_open(keep_masked, stream);
	digest_begin(&stream->raw);
	digest_begin(&stream->stored);
	return stream->ring && stream->redactor;
}

bool
stream_hide(struct stream *stream, const void *bytes, size_t length)
{
	return redact_hide(stream->redactor, bytes, length);
}

void
stream_feed(struct stream *stream, const void *bytes, size_t length)
{
	stream->bytes += length;
	digest_add(&stream->raw, bytes, length);
	redact_feed(stream->redactor, bytes, length);
}

static void
store_tail(struct stream *stream)
{
	size_t at;

	if (stream->ring_bytes <= stream->ring_size) {
		store(stream, stream->ring, (size_t)stream->ring_bytes);
		return;
	}
	if (stream->ring_size == 0)
		return;
	at = (size_t)(stream->ring_bytes % stream->ring_size);
	store(stream, stream->ring + at, stream->ring_size - at);
	store(stream, stream->ring, at);
}

void
stream_finish(struct stream *stream, struct stream_end *end)
{
	uint64_t head;

	redact_end(stream->redactor);
	head = stream->stored_bytes;
	store_tail(stream);
	/* Where head and tail meet, all of it is "head": the mark says where bytes are missing. */
	if (stream->ring_bytes <= stream->ring_size && stream->fault == 0)
		head = stream->stored_bytes;
	if (stream->stored_bytes > 0 && fdatasync(stream->file_fd) < 0 && stream->fault == 0)
		stream->fault = errno;

	*end = (struct stream_end){ .bytes = stream->bytes, .stored_bytes = stream->stored_bytes,
	    .head_bytes = head, .redactions = redact_count(stream->redactor) };
	for (unsigned kind = 0; kind < MASKED_COUNT; kind++)
		end->masked[kind] = redact_count_of(stream->redactor, kind);
	digest_end(&stream->raw, end->sha256);
	digest_end(&stream->stored, end->stored_sha256);
}

void
stream_close(struct stream *stream)
{
	if (stream->redactor)
		redact_close(stream->redactor);
	free(stream->ring);
	*stream = (struct stream){ .file_fd = -1 };
}
