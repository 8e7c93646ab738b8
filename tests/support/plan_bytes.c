/* Plans for tests of the decoder. */
#include <stdlib.h>
#include <string.h>

#include "fields.h"
#include "plan.h"

#include "plan_bytes.h"

static const unsigned char digest[32] = { 1, 2, 3 };
static const unsigned char handle[12] = { 1, 0, 0, 0, 9, 9, 9, 9, 8, 8, 8, 8 };
static const unsigned char one[8] = { 1 };

static const struct {
	uint16_t tag;
	const void *bytes;
	size_t length;
} rows[] = {
	{ PLAN_POLICY_SHA256, digest, 32 }, { PLAN_PROFILE, "default", 7 },
	{ PLAN_ROOT, "/srv/ws", 7 },
	{ PLAN_CWD, "/srv/ws/sub", 11 }, { PLAN_CWD_DEV, one, 8 }, { PLAN_CWD_INO, one, 8 },
	{ PLAN_CWD_BIRTH_NS, one, 8 }, { PLAN_CWD_HANDLE, handle, 12 }, { PLAN_ARG, "tool", 4 },
	{ PLAN_ENV, "PATH=/bin", 9 }, { PLAN_PROGRAM_NAMED, "/usr/bin/tool", 13 },
	{ PLAN_PROGRAM_TARGET, "/usr/bin/tool2", 14 }, { PLAN_PROGRAM_KIND, one, 8 },
	{ PLAN_PROGRAM_DEV, one, 8 },
	{ PLAN_PROGRAM_INO, one, 8 }, { PLAN_PROGRAM_SIZE, one, 8 },
	{ PLAN_PROGRAM_SHA256, digest, 32 },
	{ PLAN_INTERPRETER_NAMED, "/bin/sh", 7 }, { PLAN_INTERPRETER_TARGET, "/usr/bin/dash", 13 },
	{ PLAN_INTERPRETER_KIND, one, 8 }, { PLAN_INTERPRETER_DEV, one, 8 },
	{ PLAN_INTERPRETER_INO, one, 8 },
	{ PLAN_INTERPRETER_SIZE, one, 8 }, { PLAN_INTERPRETER_SHA256, digest, 32 },
	{ PLAN_TIMEOUT_MS, one, 8 },
	{ PLAN_GRACE_MS, one, 8 }, { PLAN_KEEP_BYTES, one, 8 }, { PLAN_OUTPUT_BYTES, one, 8 },
	{ PLAN_FILE_BYTES, one, 8 }, { PLAN_CPU_SECONDS, one, 8 }, { PLAN_OPEN_FILES, one, 8 },
	{ PLAN_PROCESSES, one, 8 }, { PLAN_MEMORY_BYTES, one, 8 }, { PLAN_TMP_BYTES, one, 8 },
};

static unsigned char *
take(struct fields_writer *writer, size_t *length)
{
	/* Exactly as long as it is, so that a read beyond it is seen. */
	unsigned char *bytes = malloc(writer->length);

	*length = writer->length;
	memcpy(bytes, writer->bytes, writer->length);
	fields_free(writer);
	return bytes;
}

static void
put_flawed(struct fields_writer *writer, uint16_t tag, const void *bytes, size_t length,
    enum plan_flaw flaw)
{
	unsigned char longer[64] = { 0 };

	if (flaw == FLAW_MISSING)
		return;
	memcpy(longer, bytes, length);
	fields_put(writer, tag, longer, flaw == FLAW_EMPTY ? 0 : length + (flaw == FLAW_LONGER));
	if (flaw == FLAW_DOUBLED)
		fields_put(writer, tag, bytes, length);
}

unsigned char *
plan_bytes(uint16_t tag, enum plan_flaw flaw, int with_interpreter, size_t *length)
{
	struct fields_writer writer;

	fields_begin(&writer, PLAN_MAGIC);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int interpreter = rows[i].tag >= PLAN_INTERPRETER_NAMED &&
		    rows[i].tag <= PLAN_INTERPRETER_SHA256;

		if (!interpreter || with_interpreter)
			put_flawed(&writer, rows[i].tag, rows[i].bytes, rows[i].length,
			    rows[i].tag == tag ? flaw : FLAW_NONE);
	}
	return take(&writer, length);
}

unsigned char *
plan_bytes_with(uint16_t tag, const void *value, size_t size, size_t *length)
{
	struct fields_writer writer;

	fields_begin(&writer, PLAN_MAGIC);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		fields_put(&writer, rows[i].tag, rows[i].tag == tag ? value : rows[i].bytes,
		    rows[i].tag == tag ? size : rows[i].length);
	return take(&writer, length);
}

unsigned char *
plan_bytes_more(uint16_t tag, const void *value, size_t size, int times, size_t *length)
{
	struct fields_writer writer;

	fields_begin(&writer, PLAN_MAGIC);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		fields_put(&writer, rows[i].tag, rows[i].bytes, rows[i].length);
	while (times-- > 0)
		fields_put(&writer, tag, value, size);
	return take(&writer, length);
}
