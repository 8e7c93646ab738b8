/* Any bytes as mountinfo: an answer is none, or a text.
 * links: broker/launch/mounted.c shared/text.c */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "mounted.h"

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static char type[LIMIT_PATH];
	FILE *file = length > 0 ? fmemopen((void *)(uintptr_t)bytes, length, "r") : NULL;
	const char *found = file ? mounted_find_odd(file, 30, "/srv/ws", type) : NULL;

	if (found && !memchr(found, 0, LIMIT_PATH))
		abort();
	if (file)
		fclose(file);
	return 0;
}
