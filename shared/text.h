#ifndef TEXT_H
#define TEXT_H

/* Bounded text, strict numbers, hex, UTF-8. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copy with the NUL; false (and an empty text) when it does not fit. */
bool text_copy(char *to, size_t size, const char *from);

/* printf into a bounded text; false (and an empty text) when it does not fit. */
bool text_format(char *to, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Decimal digits only, no sign, no leading zero but "0", at most `most`. */
bool text_number(const char *text, uint64_t most, uint64_t *value);

/* Lower case; `text` needs 2 * length + 1 bytes. */
void text_hex(char *text, const uint8_t *bytes, size_t length);

/* Exactly 2 * length lower-case hex digits and a NUL. */
bool text_unhex(const char *text, uint8_t *bytes, size_t length);

/* 36 characters and the NUL, lower case; the reverse accepts only that form. */
#define TEXT_UUID 37
void text_uuid(char text[TEXT_UUID], const uint8_t uuid[16]);
bool text_read_uuid(const char *text, uint8_t uuid[16]);

/* Valid UTF-8: no overlong form, no surrogate, nothing above U+10FFFF. */
bool text_is_utf8(const char *bytes, size_t length);

/* Length of the valid UTF-8 character at bytes, 0 when there is none. */
size_t text_utf8_length(const char *bytes, size_t length);

/* "/a/b" lies at or below "/a": whole components, no prefix of a name.  Both canonical. */
bool text_path_within(const char *path, const char *root);

/* Absolute, no empty component, no "." or "..", no trailing slash but "/" itself. */
bool text_path_is_clean(const char *path);

#endif
