/* Where the beginning of a log was removed. */
#include <inttypes.h>
#include <string.h>

#include "base64.h"
#include "text.h"

#include "cut.h"
#include "scan.h"

_Static_assert(RECORD_SOURCES == 3, "sn has three numbers: of auditor, broker and executor");

size_t
cut_body(char body[CUT_BODY], const struct cut *cut, uint64_t from, uint64_t segments)
{
	char head[65], root[BASE64_SIZE(32)];

	text_hex(head, cut->head, 32);
	base64_encode(root, cut->root, 32);
	text_format(body, CUT_BODY, "{\"from\":%" PRIu64 ",\"to\":%" PRIu64 ",\"head_hash\":\"%s\",\"root\":\"%s\","
	    "\"seals\":%" PRIu64 ",\"sn\":[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "],\"segments\":%" PRIu64 "}", from,
	    cut->seq - 1, head, root, cut->seals, cut->sn[0], cut->sn[1], cut->sn[2], segments);
	return strlen(body);
}

static bool
read_sn(struct scan *scan, uint64_t sn[RECORD_SOURCES])
{
	return scan_literal(scan, ",\"sn\":[") && scan_decimal(scan, &sn[0]) && scan_literal(scan, ",") &&
	    scan_decimal(scan, &sn[1]) && scan_literal(scan, ",") && scan_decimal(scan, &sn[2]) &&
	    scan_literal(scan, "]");
}

bool
cut_read_body(const char *body, size_t length, struct cut *cut, uint64_t *from)
{
	struct scan scan = { body, length };
	uint64_t to, segments;

	if (!scan_literal(&scan, "{\"from\":") || !scan_decimal(&scan, from) || !scan_literal(&scan, ",\"to\":") ||
	    !scan_decimal(&scan, &to))
		return false;
	if (!scan_literal(&scan, ",\"head_hash\":\"") || !scan_hex(&scan, cut->head, 32) ||
	    !scan_literal(&scan, "\",\"root\":\"") || !scan_base64(&scan, cut->root, 32))
		return false;
	cut->seq = to + 1;
	return scan_literal(&scan, "\",\"seals\":") && scan_decimal(&scan, &cut->seals) && read_sn(&scan, cut->sn) &&
	    scan_literal(&scan, ",\"segments\":") && scan_decimal(&scan, &segments) && scan_literal(&scan, "}") &&
	    scan.left == 0 && *from <= to && segments > 0;
}

bool
cut_same(const struct cut *one, const struct cut *other)
{
	return one->seq == other->seq && one->seals == other->seals && memcmp(one->head, other->head, 32) == 0 &&
	    memcmp(one->root, other->root, 32) == 0 && memcmp(one->sn, other->sn, sizeof(one->sn)) == 0;
}

/* --- the anchor ----------------------------------------------------------------- */

size_t
cut_anchor(char line[CUT_ANCHOR], const struct cut *cut, uint64_t unsealed, const struct tree *tree)
{
	char head[65], peak[BASE64_SIZE(32)];
	size_t length;

	text_hex(head, cut->head, 32);
	text_format(line, CUT_ANCHOR, "{\"anchor\":1,\"seq\":%" PRIu64 ",\"prev\":\"%s\",\"sn\":[%" PRIu64 ",%" PRIu64
	    ",%" PRIu64 "],\"unsealed\":%" PRIu64 ",\"peaks\":[", cut->seq, head, cut->sn[0], cut->sn[1], cut->sn[2],
	    unsealed);
	length = strlen(line);
	for (int i = 0; i < __builtin_popcountll(tree->size); i++) {
		base64_encode(peak, tree->peaks[i], 32);
		text_format(line + length, CUT_ANCHOR - length, "%s\"%s\"", i > 0 ? "," : "", peak);
		length += strlen(line + length);
	}
	text_format(line + length, CUT_ANCHOR - length, "]}\n");
	return length + strlen(line + length);
}

static bool
read_peaks(struct scan *scan, struct tree *tree)
{
	if (!scan_literal(scan, ",\"peaks\":["))
		return false;
	for (int i = 0; i < __builtin_popcountll(tree->size); i++)
		if ((i > 0 && !scan_literal(scan, ",")) || !scan_literal(scan, "\"") ||
		    !scan_base64(scan, tree->peaks[i], 32) || !scan_literal(scan, "\""))
			return false;
	return scan_literal(scan, "]}\n") && scan->left == 0;
}

bool
cut_read_anchor(const char *line, size_t length, struct cut *cut, uint64_t *unsealed, struct tree *tree)
{
	struct scan scan = { line, length };

	*cut = (struct cut){ 0 };
	if (!scan_literal(&scan, "{\"anchor\":1,\"seq\":") || !scan_decimal(&scan, &cut->seq) || cut->seq == 0 ||
	    !scan_literal(&scan, ",\"prev\":\"") || !scan_hex(&scan, cut->head, 32) || !scan_literal(&scan, "\"") ||
	    !read_sn(&scan, cut->sn) || !scan_literal(&scan, ",\"unsealed\":") || !scan_decimal(&scan, unsealed))
		return false;
	*tree = (struct tree){ .size = cut->seq };
	if (!read_peaks(&scan, tree))
		return false;
	tree_root(tree, cut->root);
	return true;
}
