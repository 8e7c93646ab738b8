#ifndef MOMENT_H
#define MOMENT_H

/* A time as in RFC 3339, strictly: "2026-11-29T19:22:25Z", ".123" and "+01:00" allowed.  Pure. */
#include <stdbool.h>
#include <stdint.h>

/* Microseconds since 1970; false when the text is not a time from then on. */
bool moment_read(const char *text, int64_t *microseconds);

#endif
