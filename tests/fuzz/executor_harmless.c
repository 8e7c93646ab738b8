/* The lines of a repository's configuration on any bytes: what passes names no program.
 * links: executor/harmless_config.c */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "harmless.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* Does a line (a TAB may stand before it) begin so? */
static int
begins(const uint8_t *line, size_t length, const char *text)
{
	return length >= strlen(text) && memcmp(line, text, strlen(text)) == 0;
}

static void
check_line(const uint8_t *line, size_t length)
{
	static const char *const good[] = { "[core]", "[extensions]", "[user]", "[remote \"", "[branch \"", "[submodule]",
		"[submodule \"", "repositoryformatversion = ", "filemode = ", "bare = ", "logallrefupdates = ", "ignorecase = ",
		"precomposeunicode = ", "symlinks = ", "worktree = ", "objectformat = ", "refstorage = ", "name = ", "email = ",
		"url = ", "fetch = ", "mirror = ", "tagOpt = ", "remote = ", "merge = ", "rebase = ", "active = " };
	int known = length == 0;

	if (length > 0 && *line == '\t')
		line++, length--;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		known |= begins(line, length, good[i]);
	if (length > 0 && !known)
		abort();
	for (size_t i = 0; i < length; i++)
		if (line[i] < ' ' || line[i] == '\\' || (line[i] == '"' && line[0] != '['))
			abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	if (!harmless_config((const char *)bytes, length, 3))
		return 0;
	while (length > 0) {
		const uint8_t *end = memchr(bytes, '\n', length);
		size_t size = end ? (size_t)(end - bytes) : length;

		check_line(bytes, size);
		bytes += size + (end != NULL);
		length -= size + (end != NULL);
	}
	return 0;
}
