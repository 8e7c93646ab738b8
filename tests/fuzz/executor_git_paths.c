/* Any bytes as a repository's configuration: each value that is told is a text that fits a path.
 * links: executor/git_paths.c shared/text.c */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "git_paths.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static int
tell(void *context, bool hooks, const char *value)
{
	(void)context;
	(void)hooks;
	if (strnlen(value, LIMIT_PATH) == LIMIT_PATH)
		abort();
	return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	git_paths((const char *)bytes, length, tell, NULL);
	return 0;
}
