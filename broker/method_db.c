/* db.check and db.backup: care for the database. */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "scope.h"

#include "broker.h"
#include "methods.h"
#include "params.h"

static const char *const nothing[] = { NULL };

static void
add_found(void *context, const char *text)
{
	json_add_text(context, NULL, text);
}

void
method_db_check(struct operation *operation)
{
	struct json *answer, *found;

	if (!params_known(operation, nothing, false))
		return;
	answer = json_object();
	found = json_add_array(answer, "found");
	json_add_boolean(answer, "sound", store_look(operation->broker->store, add_found, found) == 0);
	operation_answer(operation, answer);
}

/* An empty regular file, opened for writing: nothing is overwritten. */
static bool
is_empty_file(int fd)
{
	struct stat seen;
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && fstat(fd, &seen) == 0 &&
	    S_ISREG(seen.st_mode) && seen.st_size == 0;
}

/* -1 with errno; *total counts. */
static int
copy_bytes(int from, int to, int64_t *total)
{
	static char part[65536];
	ssize_t got, done;

	for (off_t at = 0; (got = pread(from, part, sizeof(part), at)) > 0; at += got)
		for (ssize_t put = 0; put < got; put += done) {
			done = pwrite(to, part + put, (size_t)(got - put), at + put);
			if (done <= 0)
				return -1;
			*total += done;
		}
	return got < 0 ? -1 : fsync(to);
}

/* The whole service waits for it: a second for each half gigabyte, about. */
void
method_db_backup(struct operation *operation)
{
	struct broker *broker = operation->broker;
	const char *why;
	struct json *answer;
	int64_t bytes = 0;
	scoped_close int from = -1;

	if (!params_known(operation, nothing, true))
		return;
	if (operation->descriptor < 0 || !is_empty_file(operation->descriptor)) {
		operation_refuse(operation, "invalid_input",
		    "an empty file must come with the request, as a descriptor opened for writing");
		return;
	}
	if (!store_copy(broker->store, STORE_BACKUP, &why)) {
		operation_refuse(operation, "storage_error", "backup: the copy beside the database: %s", why);
		return;
	}
	from = openat(BROKER_STATE_FD, STORE_BACKUP, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (from < 0 || copy_bytes(from, operation->descriptor, &bytes) < 0) {
		operation_refuse(operation, "storage_error", "backup: %s", strerror(errno));
	} else {
		answer = json_object();
		json_add_integer(answer, "bytes", bytes);
		operation_answer(operation, answer);
	}
	store_forget_copy(STORE_BACKUP);
}
