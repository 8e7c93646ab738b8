/* Standard input as lines. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "limits.h"
#include "log.h"

#include "lines.h"

void
lines_open(struct lines *lines, int fd)
{
	*lines = (struct lines){ .fd = fd, .buffer = malloc(LIMIT_LINE_BYTES) };
	if (!lines->buffer)
		fatal("out of memory");
}

void
lines_close(struct lines *lines)
{
	free(lines->buffer);
	*lines = (struct lines){ .fd = -1 };
}

bool
lines_wants(const struct lines *lines)
{
	return !lines->ended && lines->used < LIMIT_LINE_BYTES;
}

void
lines_read(struct lines *lines)
{
	ssize_t got = read(lines->fd, lines->buffer + lines->used, LIMIT_LINE_BYTES - lines->used);

	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (got <= 0)
		lines->ended = true;
	else
		lines->used += (size_t)got;
}

/* Forget `count` bytes from the front. */
static void
drop(struct lines *lines, size_t count)
{
	lines->used -= count;
	memmove(lines->buffer, lines->buffer + count, lines->used);
}

/* Drop the rest of an over-long line; true when its end was there. */
static bool
skip(struct lines *lines)
{
	char *newline = memchr(lines->buffer, '\n', lines->used);

	drop(lines, newline ? (size_t)(newline - lines->buffer) + 1 : lines->used);
	lines->skipping = !newline;
	return newline != NULL;
}

enum lines_found
lines_next(struct lines *lines, char **line, size_t *length)
{
	char *newline;

	drop(lines, lines->taken);
	lines->taken = 0;
	if (lines->skipping && !skip(lines))
		return LINES_NONE;
	newline = memchr(lines->buffer, '\n', lines->used);
	*line = lines->buffer;
	if (newline) {
		*length = (size_t)(newline - lines->buffer);
		lines->taken = *length + 1;
		return LINES_LINE;
	}
	if (lines->used == LIMIT_LINE_BYTES) {
		lines->skipping = true;
		lines->used = 0;
		return LINES_TOO_LONG;
	}
	if (!lines->ended || lines->used == 0)
		return LINES_NONE;
	*length = lines->used;
	lines->taken = lines->used;
	return LINES_LINE;
}
