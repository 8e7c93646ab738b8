/* git's configuration, as far as it names files. */
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "text.h"

#include "git_paths.h"

#define WORD_BYTES 32 /* longer than each section and key that is looked for */

struct reader {
	const char *at, *end;
	char section[WORD_BYTES], key[WORD_BYTES];
	char value[LIMIT_PATH];
	size_t length; /* of the value */
	bool too_long;
};

/* -1 at the end.  git takes CR LF for LF. */
static int
next(struct reader *reader)
{
	if (reader->at == reader->end)
		return -1;
	if (*reader->at == '\r' && reader->end - reader->at > 1 && reader->at[1] == '\n')
		reader->at++;
	return (unsigned char)*reader->at++;
}

static void
skip_line(struct reader *reader)
{
	int c;

	while ((c = next(reader)) >= 0 && c != '\n')
		;
}

/* Lower case; one that is too long is none that is looked for. */
static void
add_to_word(char word[WORD_BYTES], int c)
{
	size_t length = strlen(word);

	if (length + 1 < WORD_BYTES) {
		word[length] = (char)tolower(c);
		word[length + 1] = '\0';
	}
}

/* Behind "[": the name up to a blank, a point or a quote; then anything up to "]", in quotes too. */
static void
read_section(struct reader *reader)
{
	bool name = true, quoted = false;
	int c;

	reader->section[0] = '\0';
	while ((c = next(reader)) >= 0 && c != '\n' && (c != ']' || quoted)) {
		if (c == '"')
			quoted = !quoted;
		else if (c == '\\' && quoted)
			next(reader);
		name &= c != '"' && c != '.' && !isspace(c);
		if (name)
			add_to_word(reader->section, c);
	}
}

static void
add_to_value(struct reader *reader, int c)
{
	if (reader->length + 1 < sizeof(reader->value))
		reader->value[reader->length++] = (char)c;
	else
		reader->too_long = true;
}

/* Behind a backslash: what stands for itself, or a line that goes on. */
static void
read_escape(struct reader *reader)
{
	int c = next(reader);

	if (c >= 0 && c != '\n')
		add_to_value(reader, c == 'n' ? '\n' : c == 't' ? '\t' : c == 'b' ? '\b' : c);
}

/* Behind "=": to the end of the line; blanks at its end count only in quotes. */
static void
read_value(struct reader *reader)
{
	bool quoted = false;
	size_t kept = 0; /* of the length: up to the last that is no blank */
	int c;

	while ((c = next(reader)) >= 0 && c != '\n') {
		if ((c == '#' || c == ';') && !quoted) {
			skip_line(reader);
			break;
		}
		if (c == '"')
			quoted = !quoted;
		else if (c == '\\')
			read_escape(reader);
		else if (reader->length > 0 || quoted || !isspace(c))
			add_to_value(reader, c);
		if (quoted || !isspace(c))
			kept = reader->length;
	}
	reader->length = kept;
}

/* A key that begins with c, and its value if it has one. */
static void
read_setting(struct reader *reader, int c)
{
	reader->key[0] = '\0';
	for (; c >= 0 && (isalnum(c) || c == '-'); c = next(reader))
		add_to_word(reader->key, c);
	while (c == ' ' || c == '\t')
		c = next(reader);
	if (c == '=')
		read_value(reader);
	else if (c >= 0 && c != '\n')
		skip_line(reader);
}

/* Tell of a value; one with a NUL in it is no path. */
static int
tell(const struct reader *reader, git_paths_found *found, void *context)
{
	bool hooks = strcmp(reader->section, "core") == 0 && strcmp(reader->key, "hookspath") == 0;
	bool include = (strcmp(reader->section, "include") == 0 || strcmp(reader->section, "includeif") == 0) &&
	    strcmp(reader->key, "path") == 0;

	if (!hooks && !include)
		return 0;
	if (reader->too_long) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return found(context, hooks, reader->value);
}

int
git_paths(const char *text, size_t length, git_paths_found *found, void *context)
{
	struct reader reader = { .at = text, .end = text + length };
	int c, done = 0;

	while (done == 0 && (c = next(&reader)) >= 0) {
		reader.length = 0;
		reader.too_long = false;
		if (c == '[')
			read_section(&reader);
		else if (c == '#' || c == ';')
			skip_line(&reader);
		else if (isalpha(c)) {
			read_setting(&reader, c);
			reader.value[reader.length] = '\0';
			done = tell(&reader, found, context);
		}
	}
	return done;
}
