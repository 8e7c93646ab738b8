/* Tagged fields in bytes, and the sealed memfds they travel in. */
#include <sys/mman.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fields.h"
#include "limits.h"
#include "scope.h"

#define MAGIC_BYTES 8
#define HEADER_BYTES 8
#define ALL_SEALS (F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL)

static void
put_le(unsigned char *at, uint64_t value, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		at[i] = (unsigned char)(value >> 8 * i);
}

static uint64_t
get_le(const unsigned char *at, size_t bytes)
{
	uint64_t value = 0;

	for (size_t i = bytes; i-- > 0;)
		value = value << 8 | at[i];
	return value;
}

/* Room for `more` bytes at the end, or NULL with failed set. */
static unsigned char *
grow(struct fields_writer *writer, size_t more)
{
	size_t capacity = writer->capacity ? writer->capacity : 4096;
	unsigned char *bytes;

	if (writer->failed || more > LIMIT_FIELDS_BYTES - writer->length) {
		writer->failed = true;
		return NULL;
	}
	while (capacity < writer->length + more)
		capacity *= 2;
	if (capacity != writer->capacity) {
		bytes = realloc(writer->bytes, capacity);
		if (!bytes) {
			writer->failed = true;
			return NULL;
		}
		writer->bytes = bytes;
		writer->capacity = capacity;
	}
	bytes = writer->bytes + writer->length;
	writer->length += more;
	return bytes;
}

void
fields_begin(struct fields_writer *writer, const char *magic)
{
	unsigned char *at;

	*writer = (struct fields_writer){ 0 };
	at = grow(writer, MAGIC_BYTES);
	if (at)
		memcpy(at, magic, MAGIC_BYTES);
}

void
fields_put(struct fields_writer *writer, uint16_t tag, const void *bytes, size_t length)
{
	unsigned char *at;

	if (tag < writer->last_tag || length > LIMIT_FIELDS_BYTES) {
		writer->failed = true;
		return;
	}
	at = grow(writer, HEADER_BYTES + length);
	if (!at)
		return;
	writer->last_tag = tag;
	put_le(at, tag, 2);
	put_le(at + 2, 0, 2);
	put_le(at + 4, length, 4);
	if (length)
		memcpy(at + HEADER_BYTES, bytes, length);
}

void
fields_put_u64(struct fields_writer *writer, uint16_t tag, uint64_t value)
{
	unsigned char bytes[8];

	put_le(bytes, value, sizeof(bytes));
	fields_put(writer, tag, bytes, sizeof(bytes));
}

void
fields_put_text(struct fields_writer *writer, uint16_t tag, const char *text)
{
	fields_put(writer, tag, text, strlen(text));
}

void
fields_free(struct fields_writer *writer)
{
	free(writer->bytes);
	*writer = (struct fields_writer){ .failed = true };
}

int
fields_seal(const struct fields_writer *writer, const char *name)
{
	if (writer->failed) {
		errno = EFBIG;
		return -1;
	}
	return sealed_make(name, writer->bytes, writer->length);
}

bool
fields_open(struct fields_reader *reader, const char *magic, const void *bytes, size_t length)
{
	*reader = (struct fields_reader){ .bytes = bytes, .length = length, .at = MAGIC_BYTES };
	reader->failed = length < MAGIC_BYTES || memcmp(bytes, magic, MAGIC_BYTES) != 0;
	return !reader->failed;
}

bool
fields_next(struct fields_reader *reader, struct field *field)
{
	const unsigned char *at = reader->bytes + reader->at;
	size_t left = reader->length - reader->at;
	uint64_t length;

	if (reader->failed || left == 0)
		return false;
	if (left < HEADER_BYTES) {
		reader->failed = true;
		return false;
	}
	field->tag = (uint16_t)get_le(at, 2);
	length = get_le(at + 4, 4);
	if (get_le(at + 2, 2) != 0 || field->tag < reader->last_tag || length > left - HEADER_BYTES) {
		reader->failed = true;
		return false;
	}
	field->bytes = at + HEADER_BYTES;
	field->length = (size_t)length;
	reader->last_tag = field->tag;
	reader->at += HEADER_BYTES + (size_t)length;
	return true;
}

bool
fields_complete(const struct fields_reader *reader)
{
	return !reader->failed && reader->at == reader->length;
}

bool
field_u64(const struct field *field, uint64_t *value)
{
	if (field->length != 8)
		return false;
	*value = get_le(field->bytes, 8);
	return true;
}

bool
field_text(const struct field *field, char *text, size_t size)
{
	if (field->length >= size || memchr(field->bytes, 0, field->length))
		return false;
	memcpy(text, field->bytes, field->length);
	text[field->length] = '\0';
	return true;
}

bool
field_copy(const struct field *field, void *bytes, size_t length)
{
	if (field->length != length)
		return false;
	memcpy(bytes, field->bytes, length);
	return true;
}

int
sealed_make(const char *name, const void *bytes, size_t length)
{
	scoped_close int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	size_t done = 0;

	if (fd < 0)
		return -1;
	while (done < length) {
		ssize_t n = write(fd, (const char *)bytes + done, length - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		done += (size_t)n;
	}
	if (fcntl(fd, F_ADD_SEALS, ALL_SEALS) < 0)
		return -1;
	return scope_keep(&fd);
}

const void *
sealed_map(int fd, size_t limit, size_t *length)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat st;
	void *bytes;

	if (seals < 0 || (seals & ALL_SEALS) != ALL_SEALS || fstat(fd, &st) < 0) {
		errno = EPROTO;
		return NULL;
	}
	if (st.st_size < 0 || (uint64_t)st.st_size > limit) {
		errno = EFBIG;
		return NULL;
	}
	*length = (size_t)st.st_size;
	if (*length == 0)
		return "";
	bytes = mmap(NULL, *length, PROT_READ, MAP_PRIVATE, fd, 0);
	return bytes == MAP_FAILED ? NULL : bytes;
}

void
sealed_unmap(const void *bytes, size_t length)
{
	if (bytes && length)
		munmap((void *)(uintptr_t)bytes, length);
}
