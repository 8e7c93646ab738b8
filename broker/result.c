/* What a run left in its folder. */
#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boot.h"
#include "json.h"
#include "keep.h"
#include "log.h"
#include "scope.h"
#include "text.h"

#include "bytes.h"
#include "result.h"

#define RESULT_LINES_MOST 16384

/* May this be the second byte after that first one?  (RFC 3629, section 4) */
static bool
is_second(unsigned char first, unsigned char second)
{
	unsigned char low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
	unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;

	return second >= low && second <= high;
}

/* How much one mark stands for: the begin of a character that does not go on, else one byte. */
static size_t
broken_length(const char *bytes, size_t length)
{
	const unsigned char *at = (const unsigned char *)bytes;
	size_t size = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2, have = 1;

	if (at[0] < 0xc2 || at[0] > 0xf4 || length < 2 || !is_second(at[0], at[1]))
		return 1;
	while (have < size && have < length && (at[have] & 0xc0) == 0x80)
		have++;
	return have;
}

char *
result_repair(const char *bytes, size_t length)
{
	static const char replacement[] = "\xef\xbf\xbd";
	char *text = bytes_make(length * (sizeof(replacement) - 1) + 1);
	size_t at = 0, to = 0;

	while (at < length) {
		size_t step = bytes[at] ? text_utf8_length(bytes + at, length - at) : 0;

		if (step > 0) {
			memcpy(text + to, bytes + at, step);
			to += step;
			at += step;
		} else {
			memcpy(text + to, replacement, sizeof(replacement) - 1);
			to += sizeof(replacement) - 1;
			at += broken_length(bytes + at, length - at);
		}
	}
	text[to] = '\0';
	return text;
}

/* The keeper of a slot could put a link there: none is followed, and nothing but a file is read. */
static int
open_kept(const struct job *job, const struct attempt *attempt, const char *name)
{
	struct open_how how = { .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK,
	    .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS };
	struct run_name run = { .attempt = (uint32_t)attempt->number,
		.slot = (uint32_t)attempt->slot };
	char folder[RUN_FOLDER_BYTES], path[128];
	scoped_close int fd = -1;
	struct stat st;

	memcpy(run.job, job->id.at, sizeof(run.job));
	run_folder(&run, folder);
	text_format(path, sizeof(path), "%u/%s/%s", run.slot, folder, name);
	fd = (int)syscall(SYS_openat2, BROKER_RUNS_FD, path, &how, sizeof(how));
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		errno = EPROTO;
		return -1;
	}
	return scope_keep(&fd);
}

ssize_t
result_read(const struct broker *broker, const struct job *job, const struct attempt *attempt,
    enum result_stream stream, uint64_t offset, void *bytes, size_t size)
{
	scoped_close int fd = open_kept(job, attempt, stream == RESULT_OUT ? KEEP_OUT : KEEP_ERR);
	size_t done = 0;

	(void)broker;
	if (fd < 0)
		return -1;
	while (done < size) {
		ssize_t length =
		    pread(fd, (char *)bytes + done, size - done, (off_t)(offset + done));

		if (length < 0 && errno != EINTR)
			return -1;
		if (length == 0)
			break;
		if (length > 0)
			done += (size_t)length;
	}
	return (ssize_t)done;
}

ssize_t
result_cage(const struct job *job, const struct attempt *attempt, char *bytes, size_t size)
{
	scoped_close int fd = open_kept(job, attempt, KEEP_CAGE);

	return fd < 0 ? -1 : read(fd, bytes, size);
}

bool
result_denied(const struct job *job, const struct attempt *attempt, struct denied_file *file)
{
	scoped_close int fd = open_kept(job, attempt, KEEP_DENIED);
	unsigned char bytes[DENIED_BYTES];
	ssize_t length = fd < 0 ? -1 : read(fd, bytes, sizeof(bytes));

	if (length < 0)
		return false;
	if (denied_read(file, bytes, (size_t)length))
		return true;
	log_warn("job %lld: the list of denied calls cannot be read", (long long)job->seq);
	return false;
}

/* Where a stored stream is cut for its text: [0, head) and [tail, stored). */
struct cut {
	uint64_t head, tail, stored;
	bool gap; /* something is missing between them */
};

static struct cut
cut_of(uint64_t stored, uint64_t head)
{
	struct cut cut = { .head = head, .tail = head, .stored = stored, .gap = head < stored };

	if (stored <= RESULT_TEXT_MOST)
		return cut;
	cut.gap = true;
	if (cut.head > RESULT_TEXT_MOST / 2)
		cut.head = RESULT_TEXT_MOST / 2;
	cut.tail = stored - RESULT_TEXT_MOST / 2;
	if (head < stored && cut.tail < head)
		cut.tail = head;
	return cut;
}

/* The text of one stream, at most RESULT_TEXT_MOST bytes, with a line where some are missing. */
static void
add_stream(struct json *result, const char *name, const struct broker *broker,
    const struct job *job, const struct attempt *attempt, enum result_stream stream,
    bool *truncated)
{
	bool out = stream == RESULT_OUT;
	uint64_t all = (uint64_t)(out ? attempt->out_bytes : attempt->err_bytes);
	struct cut cut = cut_of((uint64_t)(out ? attempt->out_stored : attempt->err_stored),
	    (uint64_t)(out ? attempt->out_head : attempt->err_head));
	scoped_free char *bytes = bytes_make(RESULT_TEXT_MOST + 128);
	scoped_free char *text = NULL;
	size_t length = 0;
	ssize_t got;

	got = result_read(broker, job, attempt, stream, 0, bytes, cut.head);
	if (got > 0)
		length = (size_t)got;
	if (cut.gap) {
		*truncated = true;
		length += (size_t)snprintf(bytes + length, 100,
		    "\n[... a part of %llu bytes is left out here ...]\n", (unsigned long long)all);
		got = result_read(broker, job, attempt, stream, cut.tail, bytes + length,
		    cut.stored - cut.tail);
		if (got > 0)
			length += (size_t)got;
	}
	if (got < 0 && cut.stored > 0)
		log_errno("result: output");
	text = result_repair(bytes, length);
	json_add_text(result, name, text);
}

/* Lines about protected paths, as the executor wrote them down. */
static void
add_lines(struct json *result, const char *name, int fd)
{
	scoped_free char *bytes = bytes_make(RESULT_LINES_MOST);
	scoped_free char *text = NULL;
	ssize_t got = fd < 0 ? -1 : read(fd, bytes, RESULT_LINES_MOST);

	if (got < 0)
		log_warn("result: %s: %s", name, strerror(errno));
	text = result_repair(bytes, got < 0 ? 0 : (size_t)got);
	json_add_text(result, name, text);
}

/* What was there and was covered in the depths of the workspace; where there was nothing there is no file. */
static void
add_protected(struct json *result, const struct job *job, const struct attempt *attempt)
{
	scoped_close int fd = open_kept(job, attempt, KEEP_PROTECTED);

	if (fd >= 0 || errno != ENOENT)
		add_lines(result, "protected", fd);
}

static void
add_violations(struct json *result, const struct job *job, const struct attempt *attempt)
{
	scoped_close int fd = open_kept(job, attempt, KEEP_VIOLATED);

	add_lines(result, "violations", fd);
}

static const char *
why_refused(const struct attempt *attempt)
{
	if (attempt->stage == STAGE_AUDIT && attempt->error == ETIMEDOUT)
		return "no quorum of witnesses cosigned its record in time";
	if (attempt->stage == STAGE_PROTECT && attempt->error == E2BIG)
		return "the workspace is too large, too deep or has too many repositories to protect them all, see "
		       "nested in agent-safe-policy(5)";
	if (attempt->stage == STAGE_PLAN && attempt->error == EEXIST)
		return "a run of this number is there already, unknown to the database that was put back";
	if (attempt->stage == STAGE_STOPPED)
		return "the daemons ended before anything of it was begun";
	return attempt->error ? strerror((int)attempt->error) : "not what was approved";
}

static void
add_end(struct json *result, const struct attempt *attempt)
{
	char text[320];

	switch (attempt->outcome) {
	case OUTCOME_TIMED_OUT:
		json_add_text(result, "error", "timeout");
		break;
	case OUTCOME_REFUSED:
		text_format(text, sizeof(text), "the run was refused at stage %s: %s",
		    stage_name((uint32_t)attempt->stage),
		    why_refused(attempt));
		json_add_text(result, "error", text);
		json_add_text(result, "stage", stage_name((uint32_t)attempt->stage));
		json_add_integer(result, "errno", attempt->error);
		break;
	default:
		/* As in the first system: a signal is a negative code. */
		json_add_integer(result, "returncode",
		    attempt->signal ? -attempt->signal : attempt->exit_code);
	}
}

char *
result_text(struct broker *broker, const struct job *job, const struct attempt *attempt)
{
	static struct denied_file denied; /* large */
	struct json *result;
	bool truncated = attempt->flags & END_CAPTURE_FAULT;
	char *text;

	if (attempt->outcome == OUTCOME_LOST)
		return NULL;
	result = json_object();
	add_end(result, attempt);
	if (attempt->outcome != OUTCOME_REFUSED) {
		add_stream(result, "stdout", broker, job, attempt, RESULT_OUT, &truncated);
		add_stream(result, "stderr", broker, job, attempt, RESULT_ERR, &truncated);
		json_add_boolean(result, "truncated", truncated);
		if (attempt->signal)
			json_add_integer(result, "signal", attempt->signal);
		json_add_integer(result, "stdout_bytes", attempt->out_bytes);
		json_add_integer(result, "stderr_bytes", attempt->err_bytes);
	}
	if (result_denied(job, attempt, &denied))
		json_add_integer(result, "denied_calls", (int64_t)denied.refused);
	if (attempt->outcome != OUTCOME_REFUSED)
		add_protected(result, job, attempt);
	if (attempt->outcome == OUTCOME_VIOLATED)
		add_violations(result, job, attempt);
	json_add_text(result, "outcome", outcome_name((uint32_t)attempt->outcome));
	text = json_print(result, NULL);
	json_free(result);
	return text;
}
