/*
 * audit-verify - reads a log and says whether it is whole.
 *
 * holds     nothing; public keys and read-only files
 * hears     the command line
 * never     writes, asks a daemon, believes what lies beside the log
 * if taken  can lie to whoever started it, nothing else
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "digest.h"
#include "loop.h"
#include "scope.h"
#include "text.h"

#include "options.h"
#include "report.h"

#define FIRST_FD 3
#define USAGE 2

static struct verify verify; /* large */

static bool
complain(const char *path, const char *what)
{
	fprintf(stderr, "agent-safe-audit-verify: %s: %s\n", path, what);
	return false;
}

/* One checkpoint: origin, size, root, each on a line.  Its origin must be the log's. */
static bool
read_note(struct options *options, const char *path)
{
	char text[4096], *origin_end;
	long length = options_read_file(path, text, sizeof(text));

	origin_end = length < 0 ? NULL : strchr(text, '\n');
	if (!origin_end)
		return complain(path, "not a note");
	*origin_end++ = '\0';
	if (options->has_origin && strcmp(options->origin, text) != 0)
		return complain(path, "a note of another log");
	options->has_origin = text_copy(options->origin, sizeof(options->origin), text);
	if (!options->has_origin || !verify_read_note(&verify.notes[verify.note_count], origin_end,
	    (size_t)(text + length - origin_end)))
		return complain(path, "not a note");
	verify.note_count++;
	return true;
}

static bool
read_notes(struct options *options)
{
	for (unsigned i = 0; i < options->note_count; i++)
		if (!read_note(options, options->notes[i]))
			return false;
	return true;
}

static void
verify_fds(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (!verify_segment(&verify, FIRST_FD + (int)i, UINT64_MAX))
			return;
}

static void
verify_folder(const char *path, struct segments *segments)
{
	scoped_close int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool more = true;

	if (folder < 0 || segments_list(folder, segments) < 0) {
		verify_unreadable(&verify, path);
		return;
	}
	for (size_t i = 0; more && i < segments->count; i++) {
		scoped_close int fd = segments_open(folder, segments->first_seqs[i]);

		if (fd < 0)
			verify_unreadable(&verify, path);
		more = fd >= 0 && verify_segment(&verify, fd, segments->first_seqs[i]);
	}
}

int
main(int argc, char **argv)
{
	struct options options = { 0 };
	struct segments segments = { 0 };

	if (!options_read(&options, argc, argv) || !read_notes(&options))
		return USAGE;
	digest_open();
	verify.max_age_seconds = options.has_max_age ? options.max_age_seconds :
	    options.folder ? 0 : 2 * CHAIN_HEARTBEAT_SECONDS; /* a live log */
	verify_begin(&verify, options.has_origin ? options.origin : NULL, options.has_key ? options.key : NULL);
	if (options.folder)
		verify_folder(options.folder, &segments);
	else
		verify_fds(options.fds);
	verify_end(&verify, clock_realtime_us());
	(options.json ? report_json : report_text)(&verify, options.folder ? &segments : NULL);
	segments_free(&segments);
	if (fflush(stdout) == EOF)
		return VERDICT_UNREADABLE;
	return (int)verify.verdict;
}
