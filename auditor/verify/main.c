/*
 * audit-verify - reads a log and says whether it is whole.
 *
 * holds     nothing; public keys and read-only files; where it is told to, an operator's secret key
 * hears     the command line
 * never     writes but what --remember and --make-operator-key name, asks a daemon, believes what lies
 *           beside the log
 * if taken  can lie to whoever started it, nothing else
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "digest.h"
#include "loop.h"
#include "scope.h"
#include "text.h"

#include "note.h"
#include "operator.h"
#include "options.h"
#include "outputs.h"
#include "progress.h"
#include "proof.h"
#include "prove.h"
#include "remains.h"
#include "report.h"

#define FIRST_FD 3
#define USAGE 2

static struct verify verify; /* large */
static struct outputs outputs;

static bool
complain(const char *path, const char *what)
{
	fprintf(stderr, "agent-safe-audit-verify: %s: %s\n", path, what);
	return false;
}

/* One checkpoint: origin, size, root, each on a line.  Its origin must be the log's. */
static bool
read_note(struct options *options, const char *path, bool strict)
{
	static char text[CHECKPOINT_BYTES];
	long length = options_read_file(path, text, sizeof(text));
	const char *why = length < 0 || options->witnesses.count == 0 ? NULL :
	    witness_judge_note(&options->witnesses, text, (size_t)length, strict);
	char *origin_end;

	if (why)
		return complain(path, why);
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
		if (!read_note(options, options->notes[i], options->has_quorum || options->proof))
			return false;
	/* Nothing is remembered before the first time. */
	return !options->remember || access(options->remember, F_OK) < 0 ||
	    read_note(options, options->remember, false);
}

static void
verify_fds(const struct options *options)
{
	bool more = !options->pruned || verify_anchors(&verify, FIRST_FD);

	for (unsigned i = options->pruned; more && i < options->fds; i++)
		more = verify_segment(&verify, FIRST_FD + (int)i, UINT64_MAX);
}

/* What is left of a beginning that was removed. */
static bool
verify_removed(int folder, const struct segments *segments)
{
	scoped_close int fd = -1;

	if (!segments_begin_late(segments))
		return true;
	fd = segments_open(folder, UINT64_MAX);
	if (fd < 0)
		verify_unreadable(&verify, SEGMENTS_ANCHORS);
	return fd >= 0 && verify_anchors(&verify, fd);
}

static void
verify_folder(const char *path, struct segments *segments)
{
	scoped_close int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool more;

	if (folder < 0 || segments_list(folder, segments) < 0) {
		verify_unreadable(&verify, path);
		return;
	}
	more = verify_removed(folder, segments);
	for (size_t i = 0; more && i < segments->count; i++) {
		scoped_close int fd = segments_open(folder, segments->first_seqs[i]);
		char name[CHAIN_NAME];

		chain_segment_name(name, segments->first_seqs[i]);
		if (fd < 0)
			verify_unreadable(&verify, name);
		more = fd >= 0 && verify_segment(&verify, fd, segments->first_seqs[i]);
	}
}

/* Who looks at the lines besides. */
static bool
begin_watches(struct options *options)
{
	if (options->runs) {
		outputs.runs_fd = open(options->runs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (outputs.runs_fd < 0)
			return complain(options->runs, strerror(errno));
		outputs_begin(&outputs, &verify);
	}
	witness_begin(&options->witnesses, &verify);
	if (options->output == OUTPUT_PROOF)
		prove_begin(&verify, options->job);
	if (options->output == OUTPUT_ANCHORS)
		remains_begin(&verify, options->anchors_seq);
	progress_begin(&verify);
	return true;
}

/* Read the log, or the proof, to its end. */
static void
read_all(const struct options *options, struct segments *segments)
{
	if (options->proof) {
		proof_check(&verify, options->proof);
		return;
	}
	if (options->folder)
		verify_folder(options->folder, segments);
	else
		verify_fds(options);
	progress_end();
	verify_end(&verify, clock_realtime_us());
	if (witness_lacks_quorum(&options->witnesses))
		verify_unwitnessed(&verify);
}

/* What a valid log is asked for; the exit status: 2 when there is no such thing in it, 3 when it could not be given. */
static int
give_output(const struct options *options)
{
	char text[NOTE_TEXT];

	if (options->remember && !note_remember(&verify, options->remember))
		return VERDICT_UNREADABLE;
	if (options->output == OUTPUT_NOTE) {
		note_compose(&verify, text);
		fputs(text, stdout);
	}
	if (options->output == OUTPUT_PROOF)
		return prove_end() ? 0 : USAGE;
	if (options->output == OUTPUT_REKEY)
		return operator_sign(&verify, options->request, options->secret, options->reason) ? 0 :
		    VERDICT_UNREADABLE;
	return options->output != OUTPUT_ANCHORS || remains_end() ? 0 : USAGE;
}

/* The operator may continue a log whose last lines nobody could seal any more; all else wants a whole one. */
static bool
is_good_enough(const struct options *options)
{
	return verify.verdict == VERDICT_OK ||
	    (options->output == OUTPUT_REKEY && verify.verdict == VERDICT_INCOMPLETE);
}

static void
report(const struct options *options, const struct segments *segments)
{
	FILE *out = options->output == OUTPUT_VERDICT && !options->proof ? stdout : stderr;

	(options->json ? report_json : report_text)(out, &verify, options->folder ? segments : NULL,
	    &options->witnesses);
	if (options->runs && !options->json)
		fprintf(out, "%llu stored outputs are as recorded, %llu are not kept\n",
		    (unsigned long long)outputs.compared, (unsigned long long)outputs.absent);
}

/* What the log is compared with. */
static bool
begin(struct options *options)
{
	verify.challenge = options->challenge;
	verify.size = options->size;
	verify.max_age_seconds = options->has_max_age ? options->max_age_seconds :
	    options->fds == 0 ? 0 : 2 * CHAIN_HEARTBEAT_SECONDS; /* a live log */
	verify_begin(&verify, options->has_origin ? options->origin : NULL, options->has_key ? options->key : NULL);
	if (options->output == OUTPUT_REKEY) {
		options->has_operator = operator_public(options->secret, options->operator_key);
		if (!options->has_operator)
			return false;
	}
	if (options->has_operator)
		verify_trust_operator(&verify, options->operator_key);
	return begin_watches(options);
}

int
main(int argc, char **argv)
{
	struct options options = { 0 };
	struct segments segments = { 0 };
	int given = 0;
	bool good;

	if (!options_read(&options, argc, argv) || !read_notes(&options))
		return USAGE;
	digest_open();
	if (options.output == OUTPUT_OPERATOR)
		return operator_make(options.secret) ? 0 : USAGE;
	if (!begin(&options))
		return USAGE;
	read_all(&options, &segments);
	good = is_good_enough(&options);
	if (good)
		given = give_output(&options);
	report(&options, &segments);
	segments_free(&segments);
	if (fflush(stdout) == EOF)
		return VERDICT_UNREADABLE;
	return good ? given : (int)verify.verdict;
}
