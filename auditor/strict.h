#ifndef STRICT_H
#define STRICT_H

/*
 * The strict JSON of AL1 (agent-safe-audit(7)), for writer and verifier alike; pure, libc only, fuzzed.
 * An object without whitespace outside strings; depth at most 16; valid UTF-8; no raw control
 * byte; escapes \" \\ \b \f \n \r \t \uxxxx (lower case, no surrogate); keys without escapes,
 * none twice in one object; integers with |n| <= 2^53-1, no "-0".
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scan.h"

#define STRICT_DEPTH 16
#define STRICT_INTEGER_MAX ((INT64_C(1) << 53) - 1)

/* False with a constant text in *why.  length: at most 65535, else it is refused. */
bool strict_object(const char *bytes, size_t length, const char **why);

/* --- reading an object that has passed strict_object(); top level only --- */

/* The value's bytes; false when there is no such key. */
bool strict_member(const char *object, size_t length, const char *key, struct scan *value);

/* A string member without escapes: the bytes between its quotes. */
bool strict_text(const char *object, size_t length, const char *key, struct scan *text);

/* An integer member from 0 up. */
bool strict_number(const char *object, size_t length, const char *key, uint64_t *number);

#endif
