/* Masking in one write equals masking byte by byte; looking for secrets stays inside the text.
 * links: shared/redact.c shared/redact_find.c shared/secrets.c shared/secret_assign.c shared/secret_name.c shared/secret_scan.c shared/secret_visible.c shared/text.c */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "secrets.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Inputs are repeated up to here, so that long lines fill the window. */
#define TOTAL (REDACT_WINDOW + 16384)

struct output {
	unsigned char bytes[64 * TOTAL];
	size_t length;
};

static struct output whole, pieces;

static void
collect(void *context, const void *bytes, size_t length)
{
	struct output *output = context;

	if (output->length + length > sizeof(output->bytes))
		abort();
	memcpy(output->bytes + output->length, bytes, length);
	output->length += length;
}

/* Feed the input `times` times in pieces of `step` bytes; how many masks. */
static uint64_t
run(struct output *output, const uint8_t *bytes, size_t size, size_t times, size_t step)
{
	struct redactor *redactor = redact_open(collect, output);
	uint64_t count;

	if (!redactor)
		abort();
	/* What is masked word for word: two pieces of the input, when they can be. */
	if (size > 8) {
		redact_hide(redactor, bytes + 2, 2);
		redact_hide(redactor, bytes + 3, 4);
	}
	output->length = 0;
	for (size_t i = 0; i < times; i++)
		for (size_t at = 0; at < size; at += step)
			redact_feed(redactor, bytes + at, step < size - at ? step : size - at);
	redact_end(redactor);
	count = redact_count(redactor);
	redact_close(redactor);
	return count;
}

static void
compare(const uint8_t *bytes, size_t size, size_t times, size_t step)
{
	uint64_t count = run(&whole, bytes, size, times, size);

	if (run(&pieces, bytes, size, times, step) != count || pieces.length != whole.length ||
	    memcmp(pieces.bytes, whole.bytes, whole.length) != 0)
		abort();
	if (count == 0 && whole.length != size * times)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static uint8_t text[4096 * 11];
	struct secret_finding finding;
	size_t length = 0;

	if (size == 0 || size > 4096)
		return 0;
	for (size_t i = 0; i < size; i++)
		if (bytes[i] == 1) { /* no seed shall look like a key block itself */
			memcpy(text + length, "PRIVATE KEY", 11);
			length += 11;
		} else {
			text[length++] = bytes[i];
		}
	compare(text, length, 1, 1);
	if (size % 16 == 15 && bytes[size - 1] == '@')
		compare(text, length, 1 + TOTAL / length, 61);
	if (secret_in_text((const char *)text, length, &finding) &&
	    (finding.length == 0 || finding.at > length || finding.length > length - finding.at))
		abort();
	return 0;
}
