/* Lines of a repository's configuration that name no program. */
#include <stdint.h>
#include <string.h>

#include "harmless.h"

/* A part of the text: not terminated. */
struct part {
	const char *text;
	size_t length;
};

static bool
is(struct part part, const char *text)
{
	return strlen(text) == part.length && memcmp(part.text, text, part.length) == 0;
}

static bool
has(struct part part, const char *text)
{
	return memmem(part.text, part.length, text, strlen(text)) != NULL;
}

/* --- values --- */

/* No quote, escape or comment, so that git reads what stands there; no control character. */
static bool
is_plain(struct part value)
{
	if (value.length == 0 || value.text[0] == ' ' || value.text[value.length - 1] == ' ')
		return false;
	for (size_t i = 0; i < value.length; i++) {
		unsigned char c = (unsigned char)value.text[i];

		if (c < ' ' || c == 0x7f || strchr("\"\\#;", c))
			return false;
	}
	return true;
}

static bool
is_truth(struct part value)
{
	return is(value, "true") || is(value, "false");
}

static bool
is_version(struct part value)
{
	return is(value, "0") || is(value, "1");
}

/* "a::b" would start a program git-remote-a, "-a" be an option of one. */
static bool
is_address(struct part value)
{
	return is_plain(value) && value.text[0] != '-' && !has(value, "::");
}

/* From a submodule's part of a repository back to its files, at most so far up: "../../../sub". */
static bool
is_way_back(struct part value, unsigned depth)
{
	if (!is_plain(value))
		return false;
	for (; value.length >= 3 && memcmp(value.text, "../", 3) == 0 && depth > 0; depth--) {
		value.text += 3;
		value.length -= 3;
	}
	return value.length > 0 && value.text[0] != '/' && !has(value, "..");
}

static bool
is_tags(struct part value)
{
	return is(value, "--tags") || is(value, "--no-tags");
}

static bool
is_format(struct part value)
{
	return is(value, "sha1") || is(value, "sha256") || is(value, "files");
}

/* --- lines --- */

static const struct {
	const char *section;
	bool named; /* [section "name"] */
	const char *key;
	bool (*good)(struct part value);
} keys[] = {
	{ "core", false, "repositoryformatversion", is_version },
	{ "core", false, "filemode", is_truth },
	{ "core", false, "bare", is_truth },
	{ "core", false, "logallrefupdates", is_truth },
	{ "core", false, "ignorecase", is_truth },
	{ "core", false, "precomposeunicode", is_truth },
	{ "core", false, "symlinks", is_truth },
	{ "core", false, "worktree", NULL }, /* is_way_back() */
	{ "extensions", false, "objectformat", is_format },
	{ "extensions", false, "refstorage", is_format },
	{ "user", false, "name", is_plain },
	{ "user", false, "email", is_plain },
	{ "remote", true, "url", is_address },
	{ "remote", true, "fetch", is_address },
	{ "remote", true, "mirror", is_truth },
	{ "remote", true, "tagOpt", is_tags },
	{ "branch", true, "remote", is_address },
	{ "branch", true, "merge", is_address },
	{ "branch", true, "rebase", is_truth },
	{ "submodule", false, "active", is_plain },
	{ "submodule", true, "active", is_truth },
	{ "submodule", true, "url", is_address },
};

#define KEYS (sizeof(keys) / sizeof(keys[0]))

/* [section] or [section "name"]: the first of its keys, or KEYS. */
static size_t
section_of(struct part line)
{
	const char *quote = memchr(line.text, '"', line.length);
	struct part name = { line.text + 1, line.length - 2 };
	size_t i = 0;

	if (line.length < 3 || line.text[line.length - 1] != ']')
		return KEYS;
	if (quote) {
		struct part inner = { quote + 1, line.length - (size_t)(quote - line.text) - 3 };

		/* the shortest is [x "y"] */
		if (quote - line.text < 3 || quote[-1] != ' ' || line.length - (size_t)(quote - line.text) < 4 ||
		    line.text[line.length - 2] != '"' || !is_plain(inner))
			return KEYS;
		name.length = (size_t)(quote - line.text) - 2;
	}
	while (i < KEYS && (!is(name, keys[i].section) || keys[i].named != (quote != NULL)))
		i++;
	return i;
}

/* "key = value" of this section. */
static bool
setting_is_known(struct part line, size_t section, unsigned depth)
{
	const char *equals = memmem(line.text, line.length, " = ", 3);
	struct part key, value;

	if (!equals || section >= KEYS)
		return false;
	key = (struct part){ line.text, (size_t)(equals - line.text) };
	value = (struct part){ equals + 3, line.length - key.length - 3 };
	for (size_t i = 0; i < KEYS; i++)
		if (strcmp(keys[i].section, keys[section].section) == 0 && keys[i].named == keys[section].named &&
		    is(key, keys[i].key))
			return keys[i].good ? keys[i].good(value) : is_way_back(value, depth);
	return false;
}

/* *section: of the lines that follow. */
static bool
line_is_known(struct part line, size_t *section, unsigned depth)
{
	if (line.length == 0)
		return true;
	if (line.text[0] == '[') {
		*section = section_of(line);
		return *section < KEYS;
	}
	return setting_is_known(line, *section, depth);
}

bool
harmless_config(const char *text, size_t length, unsigned depth)
{
	const char *end = text + length;
	size_t section = KEYS;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		struct part line = { text, (size_t)((newline ? newline : end) - text) };

		text += line.length + (newline != NULL);
		if (line.length > 0 && line.text[0] == '\t') {
			line.text++;
			line.length--;
		}
		if (!line_is_known(line, &section, depth))
			return false;
	}
	return true;
}
