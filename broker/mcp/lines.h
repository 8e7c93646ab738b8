#ifndef LINES_H
#define LINES_H

/*
 * Standard input as lines, whatever comes: bounded, never blocking, no line lost because the one
 * before it was broken.  A last line without its newline counts.
 */
#include <stdbool.h>
#include <stddef.h>

struct lines {
	int fd;
	char *buffer;  /* LIMIT_LINE_BYTES */
	size_t used;   /* bytes in it */
	size_t taken;  /* of these, given out by the last lines_next() */
	bool skipping; /* inside a line that was too long: drop up to its newline */
	bool ended;    /* end of input, or an error of it */
};

enum lines_found { LINES_NONE, LINES_LINE, LINES_TOO_LONG };

/* Out of memory ends the process. */
void lines_open(struct lines *lines, int fd);
void lines_close(struct lines *lines);

/* Is there room to read?  Otherwise lines_next() must be called first. */
bool lines_wants(const struct lines *lines);

/* One read(); call it when poll() said so. */
void lines_read(struct lines *lines);

/* The next line without its newline, valid until the next call; TOO_LONG once per such line. */
enum lines_found lines_next(struct lines *lines, char **line, size_t *length);

#endif
