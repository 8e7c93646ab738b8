/* The body of add-checkpoint. */
#include "body.h"
#include "scan.h"

/* Whatever they are and of whom: what is kept of them must be read again. */
static bool
are_signatures(const struct checkpoint *checkpoint)
{
	struct checkpoint_lines lines = { checkpoint->signatures, checkpoint->signatures_length };
	struct checkpoint_signature signature;

	while (checkpoint_next(&lines, &signature))
		continue;
	return lines.left == 0;
}

const char *
body_read(struct body *body, const char *bytes, size_t length)
{
	struct scan scan = { bytes, length };

	*body = (struct body){ 0 };
	if (!scan_literal(&scan, "old ") || !scan_decimal(&scan, &body->old) || !scan_literal(&scan, "\n"))
		return "the first line is not \"old <size>\"";
	while (!scan_literal(&scan, "\n")) {
		if (body->count == CONSISTENCY_MOST)
			return "more than 63 lines of a proof";
		if (!scan_base64(&scan, body->proof[body->count++], 32) || !scan_literal(&scan, "\n"))
			return "a line of the proof is no hash in base64";
	}
	if (scan.left > CHECKPOINT_BYTES || !checkpoint_read(&body->checkpoint, scan.at, scan.left))
		return "no checkpoint follows";
	if (!are_signatures(&body->checkpoint))
		return "a line behind the checkpoint is no signature";
	if (body->old > body->checkpoint.size)
		return "the old size is larger than the checkpoint's";
	return body->old == 0 && body->count > 0 ? "a proof from nothing" : NULL;
}
