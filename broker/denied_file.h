#ifndef DENIED_FILE_H
#define DENIED_FILE_H

/*
 * What a job's keeper wrote down of denied calls (denied.h): read strictly, for the keeper has met
 * the job's bytes, and shown.
 */
#include <stdbool.h>
#include <stddef.h>

#include "denied.h"
#include "json.h"
#include "profile.h"

struct denied_file {
	enum profile profile;
	uint64_t refused, unlisted;
	size_t count;
	struct denied_row rows[DENIED_ROWS];
};

/* False when the bytes are not exactly such a file.  Pure. */
bool denied_read(struct denied_file *file, const void *bytes, size_t length);

/*
 * Into a job: `denials`, what was refused, and `denial_report` with the rest.  file NULL: both null,
 * nobody counted.
 */
void denied_present(struct json *job, const struct denied_file *file);

#endif
