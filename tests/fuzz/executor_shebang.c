/* The reader of "#!" lines on any bytes.
 * links: executor/shebang.c */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "shebang.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	char head[SHEBANG_BYTES] = { 0 }, name[SHEBANG_BYTES];

	memcpy(head, bytes, length < sizeof(head) ? length : sizeof(head));
	if (shebang_read(head, name) && (!name[0] || strpbrk(name, " \t\n")))
		abort();
	return 0;
}
