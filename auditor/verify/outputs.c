/* What was kept of the jobs' output. */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "digest.h"
#include "run.h"
#include "scope.h"
#include "text.h"

#include "outputs.h"
#include "strict.h"
#include "verify.h"

/* The run's folder, or -1; only names of the one right form are looked for. */
static int
open_run(const struct outputs *outputs, const struct record *record)
{
	struct run_name run = { 0 };
	char uuid[TEXT_UUID] = "", folder[RUN_FOLDER_BYTES], path[RUN_FOLDER_BYTES + 16];
	uint64_t attempt, slot;
	struct scan job;

	if (!strict_text(record->body, record->body_length, "job", &job) || job.left != TEXT_UUID - 1 ||
	    !strict_number(record->body, record->body_length, "attempt", &attempt) || attempt > UINT32_MAX ||
	    !strict_number(record->body, record->body_length, "slot", &slot) || slot >= LIMIT_SLOTS)
		return -1;
	memcpy(uuid, job.at, TEXT_UUID - 1);
	if (!text_read_uuid(uuid, run.job))
		return -1;
	run.attempt = (uint32_t)attempt;
	run_folder(&run, folder);
	text_format(path, sizeof(path), "%u/%s", (unsigned)slot, folder);
	return openat(outputs->runs_fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static bool
digest_file(int fd, char hex[65])
{
	static char bytes[65536];
	struct digest_state state;
	uint8_t digest[32];
	ssize_t length;

	digest_begin(&state);
	while ((length = read(fd, bytes, sizeof(bytes))) != 0) {
		if (length < 0 && errno != EINTR)
			return false;
		if (length > 0)
			digest_add(&state, bytes, (size_t)length);
	}
	digest_end(&state, digest);
	text_hex(hex, digest, sizeof(digest));
	return true;
}

static const char *
compare_file(struct outputs *outputs, int folder, const struct record *record, const char *name, const char *key)
{
	scoped_close int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct scan told;
	char hex[65];

	if (!strict_text(record->body, record->body_length, key, &told))
		return "the end of a run without the digest of what was stored";
	if (fd < 0) {
		outputs->absent++;
		return NULL;
	}
	if (!digest_file(fd, hex) || told.left != 64 || memcmp(told.at, hex, 64) != 0)
		return "the output that is stored is not the one that was recorded";
	outputs->compared++;
	return NULL;
}

/* In exec.output; in exec.exit only of a log that is older than that record. */
static bool
tells_output(const struct outputs *outputs, const struct record *record)
{
	const struct dispatch_run *run;
	char uuid[TEXT_UUID] = "";
	uint64_t attempt;
	struct scan job;

	if (strcmp(record->type, "exec.output") == 0)
		return true;
	if (strcmp(record->type, "exec.exit") != 0)
		return false;
	if (!strict_text(record->body, record->body_length, "job", &job) || job.left != TEXT_UUID - 1 ||
	    !strict_number(record->body, record->body_length, "attempt", &attempt))
		return true;
	memcpy(uuid, job.at, TEXT_UUID - 1);
	run = dispatch_find(outputs->dispatch, uuid, attempt);
	return !run || !run->has_output;
}

static const char *
compare(void *context, const struct chain *chain, const struct record *record)
{
	struct outputs *outputs = context;
	scoped_close int folder = -1;
	const char *why;

	(void)chain;
	if (!tells_output(outputs, record))
		return NULL;
	folder = open_run(outputs, record);
	why = compare_file(outputs, folder, record, "out", "stdout_stored_sha256");
	return why ? why : compare_file(outputs, folder, record, "err", "stderr_stored_sha256");
}

void
outputs_begin(struct outputs *outputs, struct verify *verify)
{
	outputs->dispatch = &verify->dispatch;
	verify_watch(verify, compare, outputs);
}
