/* Any bytes as the file of denied calls: what is accepted is shown whole, and is what a writer makes of it.
 * links: broker/denied_file.c broker/call_name.c shared/profile.c shared/fields.c shared/json.c shared/json_bytes.c shared/json_scan.c shared/json_token.c shared/json_write.c shared/json_find.c shared/base64.c shared/text.c shared/log.c
 * libs: -lcjson */
#include <stdlib.h>
#include <string.h>

#include "denied_file.h"
#include "fields.h"
#include "fuzz.h"

static void
write_file(struct fields_writer *writer, const struct denied_file *file)
{
	fields_begin(writer, DENIED_MAGIC);
	fields_put_u64(writer, DENIED_PROFILE, file->profile);
	fields_put_u64(writer, DENIED_REFUSED, file->refused);
	fields_put_u64(writer, DENIED_UNLISTED, file->unlisted);
	for (size_t i = 0; i < file->count; i++)
		fields_put(writer, DENIED_ROW, &file->rows[i], sizeof(file->rows[i]));
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct denied_file file;
	struct fields_writer writer;
	struct json_error error;
	struct json *job;
	char *text;

	if (!denied_read(&file, bytes, length))
		return 0;
	write_file(&writer, &file);
	if (writer.failed || writer.length != length || memcmp(writer.bytes, bytes, length) != 0)
		abort();
	fields_free(&writer);
	job = json_object();
	denied_present(job, &file);
	text = json_print(job, NULL);
	if (!json_check(text, strlen(text), &error))
		abort();
	free(text);
	json_free(job);
	return 0;
}
