/* Any bytes as lines of the kernel's audit: what is read has what its kind must have, within bounds.
 * links: broker/cli/landlock_record.c broker/cli/landlock_log.c shared/text.c */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "landlock_log.h"

static void
check(const struct landlock_record *record)
{
	if (record->kind == LANDLOCK_DENIED && record->blockers[0] == '\0')
		abort();
	if (record->kind == LANDLOCK_MADE && record->exe.length == 0)
		abort();
	if (record->port > UINT16_MAX || record->path.length >= LIMIT_PATH || record->at_us < 0 ||
	    record->path.at[record->path.length] != '\0' || record->exe.at[record->exe.length] != '\0')
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static struct landlock_log gathered;
	static struct landlock_record record;
	const char *at = (const char *)bytes, *end = at + length;

	gathered.domain_count = gathered.row_count = gathered.oldest = 0;
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t size = (size_t)((newline ? newline : end) - at);
		char *line = malloc(size + 1); /* exactly as long: a read beyond it shows */

		memcpy(line, at, size);
		if (landlock_line_read(&record, line, size) == LANDLOCK_RECORD)
			check(&record);
		landlock_log_line(&gathered, line, size);
		free(line);
		at += size + 1;
	}
	if (gathered.row_count > LANDLOCK_ROWS || gathered.domain_count > LANDLOCK_DOMAINS)
		abort();
	return 0;
}
