/* The lines of a repository's configuration on any bytes: what passes names no program.
 * links: executor/harmless_config.c */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "harmless.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	if (!harmless_config((const char *)bytes, length, 3))
		return 0;
	for (size_t i = 0; i < length; i++)
		if (!strchr("[]core\tpsiyfmatvn = 0ludbghkS\n", bytes[i]) || bytes[i] == '\0')
			abort();
	return 0;
}
