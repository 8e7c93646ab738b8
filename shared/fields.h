#ifndef FIELDS_H
#define FIELDS_H

/*
 * A list of tagged fields in bytes: the form of the plan, of bounds, orders and facts.
 *
 *   record = magic[8] field*       field = u16le tag, u16le 0, u32le length, length bytes
 *
 * Tags never decrease.  A reader must meet exactly the fields it expects: an unknown tag,
 * a length beyond the end, a nonzero spare word or a byte left over is an error.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- writing: memory is the writer's until fields_free() --- */
struct fields_writer {
	unsigned char *bytes;
	size_t length, capacity;
	uint16_t last_tag;
	bool failed; /* out of memory, too large or tags out of order: sticky, see fields_seal() */
};

/* magic: exactly 8 characters. */
void fields_begin(struct fields_writer *writer, const char *magic);
void fields_put(struct fields_writer *writer, uint16_t tag, const void *bytes, size_t length);
void fields_put_u64(struct fields_writer *writer, uint16_t tag, uint64_t value);
void fields_put_text(struct fields_writer *writer, uint16_t tag, const char *text); /* without its NUL */
void fields_free(struct fields_writer *writer);

/* A sealed memfd with the bytes (the caller's to close), or -1 with errno. */
int fields_seal(const struct fields_writer *writer, const char *name);

/* --- reading: pointers go into the given bytes --- */
struct field {
	uint16_t tag;
	const unsigned char *bytes;
	size_t length;
};

struct fields_reader {
	const unsigned char *bytes;
	size_t length, at;
	uint16_t last_tag;
	bool failed;
};

/* False when the magic differs. */
bool fields_open(struct fields_reader *reader, const char *magic, const void *bytes, size_t length);

/* The next field; false at the end and on an error: then fields_complete() tells them apart. */
bool fields_next(struct fields_reader *reader, struct field *field);
bool fields_complete(const struct fields_reader *reader);

/* A field's value; false when it has not that shape.  Text: no NUL inside, shorter than size. */
bool field_u64(const struct field *field, uint64_t *value);
bool field_text(const struct field *field, char *text, size_t size);
bool field_copy(const struct field *field, void *bytes, size_t length); /* exactly that long */

/* --- sealed memfds --- */

/* A memfd with these bytes, sealed against every change; or -1 with errno. */
int sealed_make(const char *name, const void *bytes, size_t length);

/*
 * Map a memfd that must carry the seals WRITE, GROW, SHRINK, SEAL and be at most `limit` bytes.
 * NULL with errno (EPROTO: not sealed; EFBIG).  An empty one gives a valid pointer and length 0.
 * Unmap with sealed_unmap().
 */
const void *sealed_map(int fd, size_t limit, size_t *length);
void sealed_unmap(const void *bytes, size_t length);

#endif
