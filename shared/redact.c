/*
 * Masks a stream.  Bytes are held until a line ends or the window is full; what happens then
 * depends on the stream alone, so it does not matter how it was split over writes.  Of a long
 * line the window keeps a little that is already out, to look behind, and holds back enough to
 * look ahead.  A secret that reaches the end of the window is swallowed up to its end.
 */
#include <stdlib.h>
#include <string.h>

#include "limits.h"
#include "redact_find.h"
#include "secret_scan.h"
#include "secret_visible.h"
#include "secrets.h"

#define MASK "<redacted>"

/*
 * Raw bytes that a window keeps behind itself and holds back in front: the scanner's looks with
 * room for invisible characters, and for the long header of a JWT.
 */
#define BEHIND (8 * SECRET_LOOK_BEHIND)
#define AHEAD (4 * SECRET_LOOK_AHEAD)

/* Visible characters held back inside a key block, so that "-----END" is seen whole. */
#define BLOCK_AHEAD 16

/* A key block without an end is masked this far: longer than any key, shorter than a night. */
#define BLOCK_MOST (256u << 10)

struct redactor {
	void (*sink)(void *context, const void *bytes, size_t length);
	void *context;
	uint64_t counts[MASKED_COUNT];
	bool line_start;  /* bytes[0] begins a line */
	bool swallowing;  /* what comes belongs to a secret that is masked already */
	enum secret_extent extent;
	char quote;
	size_t block_left; /* inside a key block: how much more is masked at most; 0: outside */
	size_t length;     /* bytes held */
	size_t done;       /* of them already out */
	size_t most;       /* that were ever held: no more of the three below is touched */
	char bytes[REDACT_WINDOW];
	char visible[REDACT_WINDOW];
	uint32_t position[REDACT_WINDOW + 1];
	size_t literal_count;
	struct redact_literal literals[LIMIT_SECRETS];
};

struct redactor *
redact_open(void (*sink)(void *context, const void *bytes, size_t length), void *context)
{
	struct redactor *redactor = calloc(1, sizeof(*redactor));

	if (!redactor)
		return NULL;
	redactor->sink = sink;
	redactor->context = context;
	redactor->line_start = true;
	return redactor;
}

/* Give out the held bytes up to `end`. */
static void
pass(struct redactor *redactor, size_t end)
{
	if (end > redactor->done)
		redactor->sink(
		    redactor->context, redactor->bytes + redactor->done, end - redactor->done);
	if (end > redactor->done)
		redactor->done = end;
}

/* What a rule's finds are counted as: the rules that are no token's have these names. */
static enum masked
kind_of(const char *rule)
{
	static const struct { const char *rule; enum masked kind; } kinds[] = {
		{ "jwt", MASKED_JWT }, { "bearer_token", MASKED_AUTHORIZATION },
		{ "authorization", MASKED_AUTHORIZATION }, { "url_password", MASKED_URL_PASSWORD },
		{ "private_key", MASKED_PRIVATE_KEY }, { "password", MASKED_NAMED },
		{ "named_secret", MASKED_NAMED }, { REDACT_EXACT, MASKED_EXACT },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(rule, kinds[i].rule) == 0)
			return kinds[i].kind;
	return MASKED_TOKEN;
}

/* Give out the mask instead of start..end; nothing when that is out already. */
static void
mask(struct redactor *redactor, size_t start, size_t end, enum masked kind)
{
	if (end <= redactor->done)
		return;
	pass(redactor, start);
	redactor->sink(redactor->context, MASK, sizeof(MASK) - 1);
	redactor->counts[kind]++;
	redactor->done = end;
}

/* The raw offset behind the visible character before index `end`. */
static size_t
raw_end(const struct redactor *redactor, size_t end)
{
	return end == 0 ? 0 : redactor->position[end - 1] + 1;
}

/* Drop what is out, but for `behind` bytes. */
static void
forget(struct redactor *redactor, size_t behind)
{
	size_t drop = redactor->done > behind ? redactor->done - behind : 0;

	memmove(redactor->bytes, redactor->bytes + drop, redactor->length - drop);
	redactor->length -= drop;
	redactor->done -= drop;
	if (drop > 0)
		redactor->line_start = false;
}

/* Behind a secret that an earlier window began: the index where other text begins. */
static size_t
swallow(struct redactor *redactor, size_t count)
{
	size_t from = 0, end;

	if (!redactor->swallowing)
		return 0;
	/* a quote in first place may be an escaped one */
	if (redactor->extent == SECRET_QUOTED && count > 0 &&
	    redactor->visible[0] == redactor->quote)
		from = 1;
	end = secret_scan_extent(redactor->visible, count, from, redactor->extent, redactor->quote);
	redactor->done = end < count ? redactor->position[end] : redactor->length;
	redactor->swallowing = end == count;
	return end;
}

/*
 * Inside a key block from index `from` on: mask up to its end.  The index where other text begins.
 */
static size_t
mask_block(struct redactor *redactor, size_t from, size_t count, bool whole)
{
	size_t end = secret_scan_extent(redactor->visible, count, from, SECRET_BLOCK, 0);
	size_t masked = end;

	if (end < count)
		redactor->block_left = 0;
	else if (!whole)
		masked = end - from > BLOCK_AHEAD ? end - BLOCK_AHEAD : from;
	if (masked > from)
		mask(redactor, redactor->position[from], raw_end(redactor, masked), MASKED_PRIVATE_KEY);
	redactor->block_left -=
	    redactor->block_left < redactor->length ? redactor->block_left : redactor->length;
	return end;
}

/* A secret reaches the end of the window; outside a block the rest of it is swallowed. */
static void
go_on(struct redactor *redactor, const struct secret_span *span)
{
	redactor->swallowing = true;
	redactor->extent = span->extent;
	redactor->quote = span->quote;
	redactor->done = redactor->length;
}

/*
 * Mask the secrets that begin before `limit` (raw) in the held bytes.  whole: a line ends behind
 * them, so none goes on but a block.  False when a secret or block holds the rest.
 */
static bool
mask_secrets(struct redactor *redactor, size_t limit, bool whole)
{
	size_t count = secret_visible(
	    redactor->bytes, redactor->length, redactor->visible, redactor->position);
	struct redact_finder finder;
	struct secret_span span;

	redact_find_begin(&finder, redactor->literals, redactor->literal_count);
	finder.scan = (struct secret_scan){ .bytes = redactor->visible, .length = count,
		.at = swallow(redactor, count), .line_start = redactor->line_start };
	if (redactor->block_left > 0)
		finder.scan.at = mask_block(redactor, finder.scan.at, count, whole);
	while (redactor->block_left == 0 && redact_find_next(&finder, &span)) {
		size_t start =
		    span.start < count ? redactor->position[span.start] : redactor->length;

		if (start >= limit && !whole)
			return true;
		if (span.extent == SECRET_BLOCK) {
			pass(redactor, start);
			redactor->block_left = BLOCK_MOST;
			finder.scan.at = mask_block(redactor, span.start, count, whole);
			continue;
		}
		mask(redactor, start, raw_end(redactor, span.end), kind_of(span.rule));
		if (span.end == count && !whole && kind_of(span.rule) != MASKED_EXACT)
			go_on(redactor, &span);
	}
	return !redactor->swallowing && redactor->block_left == 0;
}

/* A line ends behind the held bytes, or the stream does. */
static void
finish_line(struct redactor *redactor)
{
	mask_secrets(redactor, redactor->length, true);
	pass(redactor, redactor->length);
	redactor->length = 0;
	redactor->done = 0;
	redactor->line_start = true;
	redactor->swallowing = false;
}

/* The window is full and the line goes on. */
static void
make_room(struct redactor *redactor)
{
	size_t limit = redactor->length - AHEAD;

	if (mask_secrets(redactor, limit, false)) {
		pass(redactor, limit);
		forget(redactor, BEHIND);
	} else {
		forget(redactor, 0);
	}
}

bool
redact_hide(struct redactor *redactor, const void *bytes, size_t length)
{
	struct redact_literal *literal = &redactor->literals[redactor->literal_count];

	if (redactor->literal_count == LIMIT_SECRETS || length == 0 || length > LIMIT_SECRET_BYTES ||
	    memchr(bytes, '\n', length))
		return false;
	/* The positions are not of use here: their room is the window's, which is still empty. */
	literal->length = secret_visible(bytes, length, literal->bytes, redactor->position);
	if (literal->length > 0)
		redactor->literal_count++;
	return literal->length > 0;
}

void
redact_feed(struct redactor *redactor, const void *bytes, size_t length)
{
	const char *at = bytes;

	while (length > 0) {
		size_t room = REDACT_WINDOW - redactor->length,
		       size = length < room ? length : room;
		const char *newline = memchr(at, '\n', size);

		if (newline)
			size = (size_t)(newline - at);
		memcpy(redactor->bytes + redactor->length, at, size);
		redactor->length += size;
		if (redactor->length > redactor->most)
			redactor->most = redactor->length;
		if (newline) {
			finish_line(redactor);
			redactor->sink(redactor->context, "\n", 1);
			size++;
		} else if (redactor->length == REDACT_WINDOW) {
			make_room(redactor);
		}
		at += size;
		length -= size;
	}
}

void
redact_end(struct redactor *redactor)
{
	finish_line(redactor);
	redactor->block_left = 0;
}

uint64_t
redact_count(const struct redactor *redactor)
{
	uint64_t count = 0;

	for (unsigned kind = 0; kind < MASKED_COUNT; kind++)
		count += redactor->counts[kind];
	return count;
}

uint64_t
redact_count_of(const struct redactor *redactor, enum masked kind)
{
	return redactor->counts[kind];
}

void
redact_close(struct redactor *redactor)
{
	if (redactor) {
		explicit_bzero(redactor->bytes, redactor->most);
		explicit_bzero(redactor->visible, redactor->most);
		explicit_bzero(redactor->position, redactor->most * sizeof(redactor->position[0]));
		explicit_bzero(redactor->literals, redactor->literal_count * sizeof(redactor->literals[0]));
	}
	free(redactor);
}

/* --- a whole text --- */

struct text {
	char *bytes;
	size_t length, capacity;
	bool failed;
};

static void
collect(void *context, const void *bytes, size_t length)
{
	struct text *text = context;

	if (text->capacity - text->length <= length) {
		size_t capacity = 2 * (text->capacity + length) + 1;
		char *grown = text->failed ? NULL : realloc(text->bytes, capacity);

		if (!grown) {
			text->failed = true;
			return;
		}
		text->bytes = grown;
		text->capacity = capacity;
	}
	memcpy(text->bytes + text->length, bytes, length);
	text->length += length;
}

char *
redact_text(const char *text, size_t length, size_t *masked_length)
{
	struct text masked = { 0 };
	struct redactor *redactor = redact_open(collect, &masked);

	if (!redactor)
		return NULL;
	redact_feed(redactor, text, length);
	redact_end(redactor);
	redact_close(redactor);
	collect(&masked, "", 1);
	if (masked.failed) {
		free(masked.bytes);
		return NULL;
	}
	*masked_length = masked.length - 1;
	return masked.bytes;
}
