/* Any bytes as the list that a run's folder keeps: what passes can be gone through.
 * links: executor/nested.c executor/nested_names.c executor/nested_config.c executor/git_paths.c executor/harmless_pointer.c
 * links: executor/harmless.c executor/harmless_config.c executor/walk.c executor/mounts.c executor/protect.c executor/identity.c
 * links: shared/text.c shared/log.c */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "nested.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct nested *nested = calloc(1, sizeof(*nested));
	const char *path;
	size_t at = 0;

	if (!nested || length > sizeof(*nested)) {
		free(nested);
		return 0;
	}
	memcpy(nested, bytes, length);
	if (nested_is_sound(nested, length))
		while (at < nested->used) {
			nested_next(nested, &at, &path);
			if (path[0] != '/' || strlen(path) > LIMIT_PATH)
				abort();
		}
	free(nested);
	return 0;
}
