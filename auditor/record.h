#ifndef RECORD_H
#define RECORD_H

/*
 * The canonical bytes of one record: one line of AL1 (agent-safe-audit(7)).  Pure, libc only, fuzzed.
 *
 *   {"v":1,"seq":N,"prev":"<hex>","t":"<time>","src":"<source>","sn":N,"type":"<type>","d":{...}}\n
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "limits.h"

#define RECORD_TYPE 49  /* a type's 48 characters and a NUL */
#define RECORD_TIME 28  /* "2026-09-21T14:13:20.000000Z" and a NUL */

enum record_source {
	RECORD_AUDITOR,
	RECORD_BROKER,
	RECORD_EXECUTOR,
	RECORD_SOURCES
};

struct record {
	uint64_t seq;
	uint8_t prev[32];
	char time[RECORD_TIME];
	enum record_source source;
	uint64_t sn;
	char type[RECORD_TYPE];
	const char *body; /* d: strict JSON; someone else's memory */
	size_t body_length;
};

/*
 * Write the line with its newline; its length, or 0 when it is longer than LIMIT_RECORD_BYTES.
 * The caller answers for type and body: record_parse() checks them.
 */
size_t record_compose(char line[LIMIT_RECORD_BYTES], const struct record *record);

/*
 * Read one line, newline included.  False with a constant text in *why unless every byte is as
 * A4 says.  body points into line.
 */
bool record_parse(const char *line, size_t length, struct record *record, const char **why);

/* May this source write this type?  "log.*" is the auditor's alone, and it writes nothing else. */
bool record_type_is_legal(enum record_source source, const char *type);

/* Microseconds since the epoch as TIME, and back (0: before the epoch or no such date). */
void record_time(char text[RECORD_TIME], uint64_t microseconds);
uint64_t record_time_us(const char text[RECORD_TIME]);

/* "auditor", "broker", "executor". */
const char *record_source_name(enum record_source source);

#endif
