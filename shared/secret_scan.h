#ifndef SECRET_SCAN_H
#define SECRET_SCAN_H

/*
 * Finds secrets in one piece of text from which invisible characters have been taken
 * (secret_visible.h).  Linear: a candidate that fails costs a bounded look, one that holds is
 * passed over.  Part of secrets.h.
 */
#include <stdbool.h>
#include <stddef.h>

/* How a secret goes on when the piece ends inside it. */
enum secret_extent {
	SECRET_TOKEN,  /* over letters, digits and . _ ~ + / = - */
	SECRET_VALUE,  /* up to a blank, a quote or one of , ; & and closing signs */
	SECRET_QUOTED, /* up to the quote */
	SECRET_LINE,   /* up to the end of the line */
	SECRET_BLOCK,  /* up to "-----END", over lines */
};

struct secret_span {
	const char *rule;
	size_t start, end; /* a block's may be empty */
	enum secret_extent extent;
	char quote;        /* SECRET_QUOTED */
};

struct secret_scan {
	const char *bytes;
	size_t length, at;
	bool line_start; /* the text begins a line (or an argument) */
	size_t run_end;  /* end of the run of base64url characters looked at last */
};

/* No look ahead or behind goes further, so a window that leaves this much misses nothing. */
#define SECRET_LOOK_AHEAD 2048
#define SECRET_LOOK_BEHIND 128

/* The next secret; scan->at moves behind it. */
bool secret_scan_next(struct secret_scan *scan, struct secret_span *span);

/*
 * Where the characters that extend a secret end, from `from` on.
 */
size_t secret_scan_extent(
    const char *bytes, size_t length, size_t from, enum secret_extent extent, char quote);

#endif
