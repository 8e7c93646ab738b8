#ifndef JSON_FIND_H
#define JSON_FIND_H

/* Where things are in JSON text that json_scan() has accepted. */
#include <stdbool.h>
#include <stddef.h>

/*
 * Values are counted from 0 in the order in which they begin; a member of an object begins at its
 * key.  The offset of the index-th, or length when there are fewer.
 */
size_t json_find_value(const char *bytes, size_t length, size_t index);

/*
 * The next number at or after *at, strings skipped: its offset and size.  False when there is none.
 */
bool json_find_number(const char *bytes, size_t length, size_t *at, size_t *size);

/* Line and column of an offset, from 1.  For any bytes. */
void json_find_position(const char *bytes, size_t offset, size_t *line, size_t *column);

#endif
