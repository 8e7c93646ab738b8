#ifndef BASE64_H
#define BASE64_H

/* Base64 of RFC 4648 section 4: standard alphabet, padded, no line breaks. */
#include <stdbool.h>
#include <stddef.h>

/* Characters and the NUL for `length` bytes. */
#define BASE64_SIZE(length) (((length) + 2) / 3 * 4 + 1)

/* text: BASE64_SIZE(length) bytes. */
void base64_encode(char *text, const void *bytes, size_t length);

/*
 * Strict: false on a foreign character, missing padding, set bits behind the end, or more than
 * `size` bytes.  *length: how many were written.
 */
bool base64_decode(const char *text, size_t text_length, void *bytes, size_t size, size_t *length);

#endif
