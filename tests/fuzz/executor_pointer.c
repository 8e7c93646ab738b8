/* Any bytes as a ".git" file: what it leads to is clean and stays in the root.
 * links: executor/harmless_pointer.c executor/harmless.c executor/harmless_config.c shared/text.c */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

#include "harmless.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	char to[200], path[210];

	if (!harmless_target((const char *)bytes, length, "/ws", "a/b", to, sizeof(to)))
		return 0;
	snprintf(path, sizeof(path), "/%s", to);
	if (!text_path_is_clean(path))
		abort();
	return 0;
}
