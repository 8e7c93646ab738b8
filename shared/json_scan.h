#ifndef JSON_SCAN_H
#define JSON_SCAN_H

/*
 * The strict scanner behind json.h: says whether bytes are JSON as we take it, before any
 * library sees them.  Pure.  What it refuses and cJSON would let through stands in json.h.
 */
#include <stdbool.h>
#include <stddef.h>

#include "json.h"

/* No number is longer: cJSON reads at most 63 characters of one. */
#define JSON_SCAN_NUMBER_MOST 60

/* False with *error filled.  Input longer than LIMIT_LINE_BYTES is refused. */
bool json_scan(const char *bytes, size_t length, struct json_error *error);

#endif
