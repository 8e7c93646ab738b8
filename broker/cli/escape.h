#ifndef ESCAPE_H
#define ESCAPE_H

/*
 * What a person may be shown.  Text from jobs, agents and the broker can hold terminal
 * controls, direction overrides and characters without ink; all of these are written out.
 * The table is ours: iswprint() calls U+202E, zero-width joiners and TAG characters printable.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum escape_mode {
	ESCAPE_LINES = 1 << 0, /* keep newline, tab and backslash: output of a job, line by line */
	ESCAPE_ASCII = 1 << 1, /* the terminal is not UTF-8: write out everything beyond ASCII */
};

/* Shows ink or is a plain space, and changes nothing around it. */
bool escape_is_plain(uint32_t code);

/* Code point of the character of `size` bytes (text_utf8_length()) at bytes. */
uint32_t escape_code(const char *bytes, size_t size);

/*
 * Malloc()ed text: plain characters as they are, others as \n \t \r \\ \x1b \u{202e}; a byte
 * that is not UTF-8 as \xe9.
 */
char *escape_text(const char *bytes, size_t length, unsigned mode);

/* The same value as JSON: characters that are not plain become \uXXXX.  line: valid JSON; malloc()ed. */
char *escape_json(const char *line, size_t length);

#endif
