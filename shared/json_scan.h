#ifndef JSON_SCAN_H
#define JSON_SCAN_H

/*
 * The strict scanner behind json.h: says whether bytes are JSON as we take it, before a
 * value is made of them.  Pure.  What it refuses stands in json.h.
 */
#include <stdbool.h>
#include <stddef.h>

#include "json.h"

/* No number is longer. */
#define JSON_SCAN_NUMBER_MOST 60

/* False with *error filled.  Input longer than LIMIT_LINE_BYTES is refused. */
bool json_scan(const char *bytes, size_t length, struct json_error *error);

#endif
