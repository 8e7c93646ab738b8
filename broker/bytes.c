/* Memory that must be there: a broker without memory ends and is started again. */
#include <stdlib.h>
#include <string.h>

#include "log.h"

#include "bytes.h"

void *
bytes_make(size_t size)
{
	void *made = calloc(1, size ? size : 1);

	if (!made)
		fatal("out of memory");
	return made;
}

struct bytes
bytes_copy(const void *at, size_t length)
{
	struct bytes bytes = { .at = bytes_make(length + 1), .length = length };

	if (at && length)
		memcpy(bytes.at, at, length);
	return bytes;
}

void
bytes_free(struct bytes *bytes)
{
	free(bytes->at);
	*bytes = (struct bytes){ 0 };
}

char *
bytes_text(const char *text)
{
	return text ? (char *)bytes_copy(text, strlen(text)).at : NULL;
}
