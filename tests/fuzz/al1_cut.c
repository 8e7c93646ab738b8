/* links: auditor/cut.c auditor/scan.c auditor/tree.c shared/digest.c shared/text.c shared/base64.c shared/log.c */
/* libs: -lsodium */
/* d of log.prune and the line of an anchor: what is read is written again as the same bytes. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

#include "digest.h"

#include "cut.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char body[CUT_BODY], line[CUT_ANCHOR];
	uint64_t from, unsealed;
	struct cut cut, other;
	struct tree tree;

	if (cut_read_body((const char *)data, size, &cut, &from)) {
		/* All but the number of segments comes back. */
		if (cut_body(body, &cut, from, 1) > size || cut.seq == 0)
			abort();
		if (!cut_read_body(body, strlen(body), &other, &from) || !cut_same(&cut, &other))
			abort();
	}
	if (cut_read_anchor((const char *)data, size, &cut, &unsealed, &tree) &&
	    (cut_anchor(line, &cut, unsealed, &tree) != size || memcmp(line, data, size) != 0))
		abort();
	return 0;
}
