/* The file `denied` of a run. */
#include <string.h>

#include "fields.h"

#include "call_name.h"
#include "denied_file.h"

#define ERRNO_MOST 4095 /* of the kernel */
#define NUMBER_MOST ((1ull << 53) - 1) /* exact in every JSON reader */

static bool
row_is_possible(const struct denied_row *row)
{
	const uint32_t profiles = (1u << PROFILE_COUNT) - 2;

	return row->error <= ERRNO_MOST && row->argument <= 6 && row->value <= UINT32_MAX &&
	    row->refusing != 0 && (row->refusing & ~profiles) == 0 && row->count > 0 &&
	    row->count <= NUMBER_MOST;
}

static bool
read_number(struct fields_reader *reader, uint16_t tag, uint64_t most, uint64_t *number)
{
	struct field field;

	return fields_next(reader, &field) && field.tag == tag && field_u64(&field, number) &&
	    *number <= most;
}

/* Refused calls stand in a row, or were counted when there was none free. */
static bool
sums_hold(const struct denied_file *file)
{
	uint64_t listed = 0;

	for (size_t i = 0; i < file->count; i++)
		listed += file->rows[i].error ? file->rows[i].count : 0;
	return listed <= file->refused && file->refused - listed <= file->unlisted;
}

bool
denied_read(struct denied_file *file, const void *bytes, size_t length)
{
	struct fields_reader reader;
	struct field field;
	uint64_t profile;

	*file = (struct denied_file){ .count = 0 };
	if (!fields_open(&reader, DENIED_MAGIC, bytes, length) ||
	    !read_number(&reader, DENIED_PROFILE, PROFILE_COUNT - 1, &profile) ||
	    !profile_row((enum profile)profile) ||
	    !read_number(&reader, DENIED_REFUSED, NUMBER_MOST, &file->refused) ||
	    !read_number(&reader, DENIED_UNLISTED, NUMBER_MOST, &file->unlisted))
		return false;
	file->profile = (enum profile)profile;
	while (fields_next(&reader, &field)) {
		struct denied_row *row = &file->rows[file->count];

		if (field.tag != DENIED_ROW || file->count == DENIED_ROWS ||
		    !field_copy(&field, row, sizeof(*row)) || !row_is_possible(row))
			return false;
		file->count++;
	}
	return fields_complete(&reader) && sums_hold(file);
}

static void
add_row(struct json *list, const struct denied_row *row)
{
	struct json *one = json_add_object(list, NULL), *profiles;
	const char *name = strerrorname_np((int)row->error);

	json_add_text(one, "kind", "call");
	json_add_text(one, "call", call_name(row->call));
	json_add_integer(one, "number", row->call);
	json_add_integer(one, "argument", row->argument);
	json_add_integer(one, "value", (int64_t)row->value);
	json_add_text(one, "errno", row->error ? name : NULL);
	json_add_integer(one, "count", (int64_t)row->count);
	profiles = json_add_array(one, "refused_by");
	for (unsigned i = 1; i < PROFILE_COUNT; i++)
		if (row->refusing >> i & 1)
			json_add_text(profiles, NULL, profile_row((enum profile)i)->name);
}

void
denied_present(struct json *job, const struct denied_file *file)
{
	struct json *refused, *report, *passed;

	if (!file) {
		json_add_null(job, "denials");
		json_add_null(job, "denial_report");
		return;
	}
	refused = json_add_array(job, "denials");
	report = json_add_object(job, "denial_report");
	json_add_text(report, "profile", profile_row(file->profile)->name);
	json_add_integer(report, "refused", (int64_t)file->refused);
	json_add_integer(report, "unlisted", (int64_t)file->unlisted);
	passed = json_add_array(report, "would_refuse");
	for (size_t i = 0; i < file->count; i++)
		add_row(file->rows[i].error ? refused : passed, &file->rows[i]);
}
