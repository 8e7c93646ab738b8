/* The next secret of a piece: by its shape, or word for word. */
#include <stdint.h>
#include <string.h>

#include "redact_find.h"

void
redact_find_begin(struct redact_finder *finder, const struct redact_literal *literals, size_t count)
{
	*finder = (struct redact_finder){ .literals = literals, .literal_count = count };
}

/* The next literal from the finder's place on; false: there is none. */
static bool
next_literal(struct redact_finder *finder, struct secret_span *span)
{
	const struct secret_scan *scan = &finder->scan;
	bool found = false;

	for (size_t i = 0; i < finder->literal_count; i++) {
		const struct redact_literal *literal = &finder->literals[i];
		const char *hit;

		if (!finder->looked || finder->next[i] < scan->at) {
			hit = memmem(scan->bytes + scan->at, scan->length - scan->at, literal->bytes, literal->length);
			finder->next[i] = hit ? (size_t)(hit - scan->bytes) : SIZE_MAX;
		}
		if (finder->next[i] == SIZE_MAX || (found && finder->next[i] >= span->start))
			continue;
		found = true;
		*span = (struct secret_span){ .rule = REDACT_EXACT, .start = finder->next[i],
			.end = finder->next[i] + literal->length };
	}
	return found;
}

/* The end of the first literal that begins inside the span and goes beyond it, or the span's own. */
static size_t
end_of(const struct secret_span *span, const struct redact_finder *finder)
{
	for (size_t i = 0; i < finder->literal_count && span->end > span->start; i++) {
		const struct redact_literal *literal = &finder->literals[i];
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
extend(struct secret_span *span, const struct redact_finder *finder)
{
	size_t end;

	while ((end = end_of(span, finder)) > span->end)
		span->end = end;
}

bool
redact_find_next(struct redact_finder *finder, struct secret_span *span)
{
	struct secret_span literal;
	bool exact = next_literal(finder, &literal);

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
		extend(span, finder);
	if (span->end > finder->scan.at)
		finder->scan.at = span->end;
	return true;
}
