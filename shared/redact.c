/*
 * Masks a stream.  Bytes are held until a line ends or the window is full; what happens then
 * depends on the stream alone, so it does not matter how it was split over writes.  Of a long
 * line the window keeps a little that is already out, to look behind, and holds back enough to
 * look ahead.  A secret that reaches the end of the window is swallowed up to its end.
 */
#include <stdlib.h>
#include <string.h>

#include "limits.h"
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

/* What is masked word for word; its visible characters. */
struct literal {
	size_t length;
	char bytes[LIMIT_SECRET_BYTES];
};

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
	struct literal literals[LIMIT_SECRETS];
};

/* Walks over the secrets of one piece: by shape, and word for word.  Each is looked for once. */
struct finder {
	struct secret_scan scan;       /* scan.at: where it goes on */
	struct secret_scan behind;     /* the same behind `shaped` */
	struct secret_span shaped;     /* the next by shape */
	bool looked, found;
	size_t next[LIMIT_SECRETS];    /* where each literal is next; SIZE_MAX: nowhere */
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
		{ "named_secret", MASKED_NAMED }, { "exact", MASKED_EXACT },
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

/* --- finding --- */

static void
find_begin(struct finder *finder, const struct redactor *redactor, size_t count)
{
	*finder = (struct finder){ .scan = { .bytes = redactor->visible, .length = count,
		.line_start = redactor->line_start } };
}

/* The next literal from the finder's place on; false: there is none. */
static bool
next_literal(struct finder *finder, const struct redactor *redactor, struct secret_span *span)
{
	const struct secret_scan *scan = &finder->scan;
	bool found = false;

	for (size_t i = 0; i < redactor->literal_count; i++) {
		const struct literal *literal = &redactor->literals[i];
		const char *hit;

		if (!finder->looked || finder->next[i] < scan->at) {
			hit = memmem(scan->bytes + scan->at, scan->length - scan->at, literal->bytes, literal->length);
			finder->next[i] = hit ? (size_t)(hit - scan->bytes) : SIZE_MAX;
		}
		if (finder->next[i] == SIZE_MAX || (found && finder->next[i] >= span->start))
			continue;
		found = true;
		*span = (struct secret_span){ .rule = "exact", .start = finder->next[i],
			.end = finder->next[i] + literal->length };
	}
	return found;
}

/* The end of the first literal that begins inside the span and goes beyond it, or the span's own. */
static size_t
end_of(const struct secret_span *span, const struct finder *finder, const struct redactor *redactor)
{
	for (size_t i = 0; i < redactor->literal_count && span->end > span->start; i++) {
		const struct literal *literal = &redactor->literals[i];
		size_t from = span->end < span->start + literal->length ? span->start :
		    span->end - literal->length + 1;
		size_t room = finder->scan.length - from, most = span->end - from + literal->length - 1;
		const char *hit = memmem(finder->scan.bytes + from, room < most ? room : most,
		    literal->bytes, literal->length);

		if (hit)
			return (size_t)(hit - finder->scan.bytes) + literal->length;
	}
	return span->end;
}

/* Literals that overlap what is masked are masked to their ends. */
static void
extend(struct secret_span *span, const struct finder *finder, const struct redactor *redactor)
{
	size_t end;

	while ((end = end_of(span, finder, redactor)) > span->end)
		span->end = end;
}

/* The next secret; the finder's place moves behind it. */
static bool
find_next(struct finder *finder, const struct redactor *redactor, struct secret_span *span)
{
	struct secret_span literal;
	bool exact = next_literal(finder, redactor, &literal);

	if (!finder->looked || (finder->found && finder->shaped.start < finder->scan.at)) {
		finder->behind = finder->scan;
		finder->found = secret_scan_next(&finder->behind, &finder->shaped);
	}
	finder->looked = true;
	if (!exact && !finder->found)
		return false;
	if (exact && (!finder->found || literal.end <= finder->shaped.start)) {
		*span = literal;
	} else {
		*span = finder->shaped;
		finder->scan = finder->behind;
		if (exact && literal.start < span->start && span->extent != SECRET_BLOCK)
			span->start = literal.start; /* both at once */
	}
	if (span->extent != SECRET_BLOCK)
		extend(span, finder, redactor);
	if (span->end > finder->scan.at)
		finder->scan.at = span->end;
	return true;
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
	struct finder finder;
	struct secret_span span;

	find_begin(&finder, redactor, count);
	finder.scan.at = swallow(redactor, count);
	if (redactor->block_left > 0)
		finder.scan.at = mask_block(redactor, finder.scan.at, count, whole);
	while (redactor->block_left == 0 && find_next(&finder, redactor, &span)) {
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
	struct literal *literal = &redactor->literals[redactor->literal_count];

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
