/* Lines of strace(1). */
#include <stdlib.h>
#include <string.h>

#include "text.h"

#include "trace.h"

#define WORD 24 /* a call's name with its NUL */
#define UNFINISHED "<unfinished ...>"

/* What is left of a line. */
struct rest {
	const char *at;
	size_t length;
};

static void
skip(struct rest *rest, size_t length)
{
	rest->at += length;
	rest->length -= length;
}

static bool
take(struct rest *rest, const char *text)
{
	size_t length = strlen(text);

	if (rest->length < length || memcmp(rest->at, text, length) != 0)
		return false;
	skip(rest, length);
	return true;
}

static void
skip_blanks(struct rest *rest)
{
	while (rest->length > 0 && rest->at[0] == ' ')
		skip(rest, 1);
}

/* Up to and with text; false, and nothing skipped, when it is not there. */
static bool
take_behind(struct rest *rest, const char *text)
{
	const char *found = memmem(rest->at, rest->length, text, strlen(text));

	if (!found)
		return false;
	skip(rest, (size_t)(found - rest->at) + strlen(text));
	return true;
}

static bool
has(const struct rest *rest, const char *text)
{
	struct rest copy = *rest;

	return take_behind(&copy, text);
}

/* A number of the line's own; more digits than fit are none. */
static bool
take_number(struct rest *rest, uint64_t most, uint64_t *number)
{
	size_t digits = 0;

	*number = 0;
	while (digits < rest->length && rest->at[digits] >= '0' && rest->at[digits] <= '9') {
		*number = *number * 10 + (uint64_t)(rest->at[digits++] - '0');
		if (*number > most)
			return false;
	}
	skip(rest, digits);
	return digits > 0;
}

static bool
is_word(char character)
{
	return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
	    (character >= '0' && character <= '9') || character == '_';
}

static bool
take_word(struct rest *rest, char *word, size_t size)
{
	size_t length = 0;

	while (length < rest->length && is_word(rest->at[length]))
		length++;
	if (length == 0 || length >= size)
		return false;
	memcpy(word, rest->at, length);
	word[length] = '\0';
	skip(rest, length);
	return true;
}

/* One character of a string as strace quotes it: \n, \", \7, \12, \123; -1: none. */
static int
take_character(struct rest *rest)
{
	static const char letters[] = "abfnrtv", meant[] = "\a\b\f\n\r\t\v";
	unsigned value = 0, digits = 0;
	const char *known;

	if (rest->length == 0)
		return -1;
	if (rest->at[0] != '\\') {
		skip(rest, 1);
		return (unsigned char)rest->at[-1];
	}
	if (rest->length < 2)
		return -1;
	skip(rest, 1);
	while (digits < 3 && digits < rest->length && rest->at[digits] >= '0' && rest->at[digits] <= '7')
		value = value * 8 + (unsigned)(rest->at[digits++] - '0');
	if (digits > 0) {
		skip(rest, digits);
		return value > 255 ? -1 : (int)value;
	}
	known = strchr(letters, rest->at[0]);
	skip(rest, 1);
	return known && *known ? (unsigned char)meant[known - letters] : (unsigned char)rest->at[-1];
}

/* "a/path": false when it is cut, holds a NUL or is none. */
static bool
take_string(struct rest *rest, char path[LIMIT_PATH])
{
	size_t length = 0;

	if (!take_behind(rest, "\""))
		return false;
	while (rest->length > 0 && rest->at[0] != '"') {
		int character = take_character(rest);

		if (character <= 0 || length + 1 >= LIMIT_PATH)
			return false;
		path[length++] = (char)character;
	}
	path[length] = '\0';
	return take(rest, "\"") && !take(rest, "...");
}

/* --- calls ---------------------------------------------------------------------------- */

static bool
is_one_of(const char *name, const char *const *list)
{
	for (; *list; list++)
		if (strcmp(name, *list) == 0)
			return true;
	return false;
}

static bool
writes(const char *name, const struct rest *arguments)
{
	static const char *const always[] = { "creat", "mkdir", "mkdirat", "rmdir", "unlink",
		"unlinkat", "rename", "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat",
		"mknod", "mknodat", "truncate", "chmod", "fchmodat", "chown", "lchown", "fchownat",
		"utime", "utimes", "utimensat", "setxattr", "lsetxattr", "removexattr", NULL };

	return is_one_of(name, always) || has(arguments, "O_WRONLY") || has(arguments, "O_RDWR") ||
	    has(arguments, "O_CREAT") || has(arguments, "W_OK");
}

/* The path that the call is for; of two the one that it makes.  Relative ones lie in the workspace. */
static void
read_path(const char *name, struct rest arguments, char path[LIMIT_PATH])
{
	static const char *const second[] = { "rename", "renameat", "renameat2", "link", "linkat",
		"symlink", "symlinkat", NULL };
	bool good = take_string(&arguments, path);

	if (good && is_one_of(name, second))
		good = take_string(&arguments, path);
	if (!good || !text_path_is_clean(path))
		path[0] = '\0';
}

static bool
is_wanting(const char *error)
{
	static const char *const errors[] = { "ENOENT", "EACCES", "EPERM", "EROFS", NULL };

	return is_one_of(error, errors);
}

/* ") = -1 ENOENT (...)": the error's name, from the line's end, for a path may hold anything. */
static bool
read_error(const struct rest *line, char error[16])
{
	static const char mark[] = " = -1 ";
	size_t size = sizeof(mark) - 1;

	for (size_t at = line->length; at-- > 0;) {
		struct rest behind = { line->at + at, line->length - at };

		if (behind.length > size && memcmp(behind.at, mark, size) == 0) {
			skip(&behind, size);
			return take_word(&behind, error, 16);
		}
	}
	return false;
}

static void
note_path(struct trace *trace, const char *path, const char *error, bool changing)
{
	struct trace_path *row = trace->paths;
	size_t i = 0;

	while (i < trace->path_count && (strcmp(row[i].path, path) != 0 || row[i].writes != changing))
		i++;
	if (i == TRACE_PATHS) {
		trace->unlisted++;
		return;
	}
	if (i == trace->path_count) {
		text_copy(row[i].path, sizeof(row[i].path), path);
		text_copy(row[i].error, sizeof(row[i].error), error);
		row[i].writes = changing;
		trace->path_count++;
	}
	row[i].count++;
}

static void
note_result(struct trace *trace, const struct trace_half *call, const struct rest *line)
{
	char error[16];

	if (call->path[0] == '\0' || !read_error(line, error) || !is_wanting(error))
		return;
	trace->calls++;
	note_path(trace, call->path, error, call->writes);
}

static void
note_port(struct trace *trace, uint16_t port)
{
	for (size_t i = 0; i < trace->port_count; i++)
		if (trace->ports[i] == port)
			return;
	if (trace->port_count == TRACE_PORTS)
		trace->unlisted++;
	else
		trace->ports[trace->port_count++] = port;
}

/* {sa_family=AF_INET, sin_port=htons(443), sin_addr=inet_addr("127.0.0.1")} */
static void
note_socket(struct trace *trace, const char *name, struct rest arguments)
{
	bool local = has(&arguments, "inet_addr(\"127.") || has(&arguments, "\"::1\"") ||
	    has(&arguments, "\"::ffff:127.");
	uint64_t port;

	if (!take_behind(&arguments, "sa_family=AF_INET") || !take_behind(&arguments, "htons(") ||
	    !take_number(&arguments, UINT16_MAX, &port))
		return;
	trace->calls++;
	if (local || strcmp(name, "bind") == 0)
		trace->loopback = true;
	else if (port > 0)
		note_port(trace, (uint16_t)port);
}

static struct trace_half *
half_of(struct trace *trace, uint64_t process)
{
	return &trace->halves[process % TRACE_HALVES];
}

/* "<... openat resumed>) = -1 ENOENT (...)" */
static void
resume(struct trace *trace, uint64_t process, struct rest *line)
{
	struct trace_half *half = half_of(trace, process);
	char name[WORD];

	if (take_word(line, name, sizeof(name)) && half->process == process &&
	    strcmp(half->name, name) == 0)
		note_result(trace, half, line);
	half->name[0] = '\0';
}

/* "openat(AT_FDCWD, ..." */
static void
begin(struct trace *trace, uint64_t process, struct rest *line)
{
	static struct trace_half call; /* large */

	if (!take_word(line, call.name, sizeof(call.name)) || !take(line, "("))
		return;
	if (strcmp(call.name, "connect") == 0 || strcmp(call.name, "bind") == 0) {
		note_socket(trace, call.name, *line);
		return;
	}
	call.process = process;
	read_path(call.name, *line, call.path);
	call.writes = writes(call.name, line);
	if (line->length >= sizeof(UNFINISHED) - 1 &&
	    memcmp(line->at + line->length - (sizeof(UNFINISHED) - 1), UNFINISHED, sizeof(UNFINISHED) - 1) == 0)
		*half_of(trace, process) = call;
	else
		note_result(trace, &call, line);
}

void
trace_line(struct trace *trace, const char *line, size_t length)
{
	struct rest rest = { line, length };
	uint64_t process = 0;

	trace->lines++;
	if (take_number(&rest, UINT32_MAX, &process))
		skip_blanks(&rest);
	if (take(&rest, "<... "))
		resume(trace, process, &rest);
	else
		begin(trace, process, &rest);
}
