/* Lines of the past, read again. */
#include <string.h>
#include <unistd.h>

#include "limits.h"
#include "packed.h"
#include "scope.h"

#include "leaves.h"
#include "segments.h"
#include "tree.h"

#define BUFFER (4 * LIMIT_RECORD_BYTES)

/* What is wanted, and the line that comes next. */
struct reading {
	uint64_t seq, from, until;
	uint8_t (*leaves)[32];
};

/* All whole lines of the bytes; how many bytes they have. */
static size_t
take_lines(struct reading *reading, uint64_t end, const char *bytes, size_t length)
{
	size_t at = 0;
	const char *newline;

	while (reading->seq < end && (newline = memchr(bytes + at, '\n', length - at))) {
		size_t size = (size_t)(newline - bytes) + 1 - at;

		if (reading->seq >= reading->from)
			tree_leaf(reading->leaves[reading->seq - reading->from], bytes + at, size);
		reading->seq++;
		at += size;
	}
	return at;
}

/* One segment, up to the line `end`: what lies behind that is torn. */
static bool
read_segment(struct reading *reading, struct packed *packed, uint64_t end)
{
	static char bytes[BUFFER];
	size_t held = 0;

	while (reading->seq < end) {
		ssize_t length = packed_read(packed, bytes + held, sizeof(bytes) - held);
		size_t taken;

		if (length <= 0)
			return false;
		held += (size_t)length;
		taken = take_lines(reading, end, bytes, held);
		memmove(bytes, bytes + taken, held - taken);
		held -= taken;
		if (held == sizeof(bytes))
			return false;
	}
	return true;
}

static bool
read_file(struct reading *reading, int fd, uint64_t end)
{
	static struct packed packed; /* large */
	bool good;

	if (fd < 0 || packed_open(&packed, fd, false) < 0)
		return false;
	good = read_segment(reading, &packed, end);
	packed_close(&packed);
	return good;
}

static bool
read_all(struct reading *reading, int folder_fd, const struct segments *segments)
{
	for (size_t i = 0; i < segments->count && reading->seq < reading->until; i++) {
		uint64_t next = i + 1 < segments->count ? segments->first_seqs[i + 1] : UINT64_MAX;
		scoped_close int fd = -1;

		if (next <= reading->from)
			continue;
		reading->seq = segments->first_seqs[i];
		if (reading->seq > reading->from && i == 0)
			return false;
		fd = segments_open(folder_fd, reading->seq);
		if (!read_file(reading, fd, next < reading->until ? next : reading->until))
			return false;
	}
	return reading->seq == reading->until;
}

bool
leaves_read(int folder_fd, uint64_t seq, size_t count, uint8_t (*leaves)[32])
{
	struct reading reading = { .from = seq, .until = seq + count, .leaves = leaves };
	struct segments segments;
	bool good;

	if (segments_list(folder_fd, &segments) < 0)
		return false;
	good = read_all(&reading, folder_fd, &segments);
	segments_free(&segments);
	return good;
}
