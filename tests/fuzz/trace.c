/* Any bytes as a trace: what is kept is a clean path or a port, within bounds.
 * links: broker/cli/trace.c shared/text.c */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "text.h"
#include "trace.h"

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static struct trace trace;
	const char *at = (const char *)bytes, *end = at + length;

	memset(&trace, 0, sizeof(trace));
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t size = (size_t)((newline ? newline : end) - at);
		char *line = malloc(size + 1); /* exactly as long: a read beyond it shows */

		memcpy(line, at, size);
		trace_line(&trace, line, size);
		free(line);
		at += size + 1;
	}
	if (trace.path_count > TRACE_PATHS || trace.port_count > TRACE_PORTS)
		abort();
	for (size_t i = 0; i < trace.path_count; i++)
		if (!text_path_is_clean(trace.paths[i].path) || trace.paths[i].count == 0)
			abort();
	for (size_t i = 0; i < trace.port_count; i++)
		if (trace.ports[i] == 0)
			abort();
	return 0;
}
