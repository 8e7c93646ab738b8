#ifndef SECRET_VISIBLE_H
#define SECRET_VISIBLE_H

/*
 * Text without what a terminal or a reader drops: control characters but tab and newline, CSI
 * sequences, soft hyphens, zero-width and bidirectional marks.  A token with one of them inside
 * is a token again for whoever copies it.
 */
#include <stddef.h>
#include <stdint.h>

/*
 * visible, position: room for `length`; position[i] is the offset of visible[i].  Returns how many.
 */
size_t secret_visible(const char *bytes, size_t length, char *visible, uint32_t *position);

#endif
