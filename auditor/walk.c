/* Reading a log from its first byte. */
#include <errno.h>
#include <string.h>

#include "digest.h"

#include "walk.h"

void
walk_begin(struct walk *walk, const char *origin, const uint8_t *key)
{
	memset(walk, 0, offsetof(struct walk, packed));
	chain_begin(&walk->chain, origin, key);
}

static struct walk_fault
fault_here(const struct walk *walk, const char *why)
{
	return (struct walk_fault){ .why = why, .segment = walk->segment, .line = walk->lines + 1,
		.offset = walk->good_bytes, .seq = walk->chain.next_seq };
}

/* One complete line; false when it does not hold. */
static bool
take_line(struct walk *walk, const char *line, size_t length)
{
	struct record record;
	const char *why = chain_take(&walk->chain, line, length, &record);

	if (why) {
		walk->suspect = fault_here(walk, why);
		return false;
	}
	/* The first line of a segment has declared what was torn from the one before. */
	walk->suspect.why = NULL;
	if (walk->each) {
		why = walk->each(walk->context, &walk->chain, &record);
		if (why) {
			walk->fault = fault_here(walk, why);
			walk->fault.seq = record.seq;
		}
	}
	walk->lines++;
	walk->good_bytes += length;
	return !why;
}

/* One line of anchors.jsonl; false when it does not hold. */
static bool
take_anchor(struct walk *walk, const char *line, size_t length)
{
	static const char mark[] = "{\"anchor\":";
	struct chain *chain = &walk->chain;
	struct record record;
	const char *why;

	if (chain->cut.seq > 0)
		why = "anchors: a line behind the anchor";
	else if (length > strlen(mark) && memcmp(line, mark, strlen(mark)) == 0)
		why = chain_begin_at(chain, line, length);
	else {
		why = chain_take_anchor(chain, line, length, &record);
		if (!why && walk->each)
			why = walk->each(walk->context, chain, &record);
	}
	if (why) {
		walk->fault = fault_here(walk, why);
		walk->fault.anchors = true;
		return false;
	}
	walk->lines++;
	walk->good_bytes += length;
	return true;
}

/* What comes behind is not looked at. */
static bool
is_at_limit(const struct walk *walk)
{
	return walk->limit > 0 && walk->chain.next_seq >= walk->limit;
}

/* All complete lines of the buffer; how many bytes were taken.  *failed: one did not hold. */
static size_t
take_lines(struct walk *walk, size_t length, bool (*take)(struct walk *, const char *, size_t), bool *failed)
{
	size_t at = 0;

	while (!*failed && !is_at_limit(walk)) {
		const char *newline = memchr(walk->buffer + at, '\n', length - at);
		size_t size = newline ? (size_t)(newline - walk->buffer) + 1 - at : 0;

		if (!newline)
			break;
		*failed = !take(walk, walk->buffer + at, size);
		if (!*failed)
			at += size;
	}
	return at;
}

/*
 * Count and hash what lies behind the last good line, up to the end of the file.  ended: that was seen, and what a
 * living auditor has written since is not part of what was read.
 */
static int
take_torn(struct walk *walk, size_t held, bool ended)
{
	struct digest_state state;
	ssize_t length = (ssize_t)held;

	digest_begin(&state);
	while (length > 0) {
		digest_add(&state, walk->buffer, (size_t)length);
		walk->torn += (uint64_t)length;
		walk->torn_has_lines |= memchr(walk->buffer, '\n', (size_t)length) != NULL;
		length = ended ? 0 : packed_read(&walk->packed, walk->buffer, sizeof(walk->buffer));
	}
	digest_end(&state, walk->torn_sha256);
	return length < 0 ? -1 : 0;
}

/*
 * Whole lines until one fails, or none is complete within the longest line, or the end.  What is
 * left is in the buffer; its length or -1.  *ended: it was the end.
 */
static ssize_t
take_file(struct walk *walk, bool (*take)(struct walk *, const char *, size_t), bool *failed, bool *ended)
{
	size_t held = 0;

	*ended = false;
	while (!*failed && !is_at_limit(walk) && held < LIMIT_RECORD_BYTES) {
		ssize_t length = packed_read(&walk->packed, walk->buffer + held, sizeof(walk->buffer) - held);
		size_t taken;

		if (length < 0)
			return -1;
		*ended = length == 0;
		if (*ended)
			break;
		held += (size_t)length;
		taken = take_lines(walk, held, take, failed);
		memmove(walk->buffer, walk->buffer + taken, held - taken);
		held -= taken;
	}
	return (ssize_t)held;
}

static int
take_open_segment(struct walk *walk)
{
	bool failed = false, ended;
	ssize_t held = take_file(walk, take_line, &failed, &ended);

	if (held < 0)
		return -1;
	if (is_at_limit(walk) && !failed)
		return 0;
	if (!failed && held > 0)
		walk->suspect = fault_here(walk, "line is not complete");
	return take_torn(walk, (size_t)held, ended);
}

/* A compressed segment that does not unpack is one that was changed: a fault, not an error. */
static int
take_segment(struct walk *walk, int fd)
{
	int result = packed_open(&walk->packed, fd, false);

	walk->compressed = walk->packed.decoder != NULL;
	if (result == 0)
		result = take_open_segment(walk);
	if (result < 0 && errno == EBADMSG) {
		walk->fault = fault_here(walk, walk->packed.why);
		result = 0;
	}
	packed_close(&walk->packed);
	return result;
}

int
walk_anchors(struct walk *walk, int fd)
{
	bool failed = false, ended;
	ssize_t held = packed_open(&walk->packed, fd, true) < 0 ? -1 : take_file(walk, take_anchor, &failed, &ended);

	if (held < 0)
		return -1;
	if (!failed && (held > 0 || walk->chain.cut.seq == 0)) {
		walk->fault = fault_here(walk, "anchors: the file is not complete");
		walk->fault.anchors = true;
	}
	return 0;
}

int
walk_segment(struct walk *walk, int fd, uint64_t first_seq)
{
	struct walk_fault before = walk->suspect;

	if (walk->fault.why)
		return 0;
	/* The anchors tell its lines; whoever removed the others has not finished. */
	if (first_seq < walk->chain.cut.seq)
		return 0;
	if (walk->segments > 0) {
		struct chain_joint joint = { .first_seq = walk->segment, .torn = walk->torn };

		memcpy(joint.torn_sha256, walk->torn_sha256, 32);
		chain_join(&walk->chain, &joint);
	}
	walk->segment = first_seq == UINT64_MAX ? walk->chain.next_seq : first_seq;
	walk->segments++;
	walk->lines = walk->good_bytes = walk->torn = 0;
	walk->torn_has_lines = false;
	if (walk->segment != walk->chain.next_seq) {
		walk->fault = before.why ? before : fault_here(walk, "a segment is missing or misnamed");
		return 0;
	}
	if (take_segment(walk, fd) < 0)
		return -1;
	/* Nothing in this segment held: then nothing has declared the line that failed before it. */
	if (walk->lines == 0 && before.why)
		walk->fault = before;
	return 0;
}

void
walk_end(struct walk *walk)
{
	if (!walk->fault.why && walk->torn_has_lines)
		walk->fault = walk->suspect;
}
