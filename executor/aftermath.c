/* After a job, before the record of its end. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "keep.h"
#include "log.h"
#include "scope.h"
#include "text.h"

#include "aftermath.h"
#include "bounds.h"
#include "box.h"
#include "executor.h"
#include "places.h"
#include "protect.h"
#include "start.h"

#define LINE_BYTES (LIMIT_PATH + 1100)

/* Of the run in work, or whose child is being made. */
static const struct protect *watched;
static unsigned watched_count;
static bool noted; /* something was violated */
static struct protect found[PLACES_MOST]; /* what watched leads to where it was read from the folder */

static const struct runs *
runs_of(const struct attempt *attempt)
{
	return &attempt->executor->runs[attempt->run.slot];
}

/* On disk before the path is touched: who comes after a crash sees that there was something. */
static void
note(void *context, const char *line)
{
	const struct attempt *attempt = context;
	char text[LINE_BYTES];

	noted = true;
	if (!text_format(text, sizeof(text), "%s\n", line) ||
	    runs_append(runs_of(attempt), attempt->folder, KEEP_VIOLATED, text) < 0)
		fatal("%s: violation cannot be noted: %s", attempt->name, strerror(errno));
}

/* A root or a write path: whichever it was. */
static int
place_of(const struct boot *boot, const char *path)
{
	int root = bounds_root(boot, path);

	return root >= 0 ? root : bounds_extra(boot, &(struct plan_extra){ path, true });
}

/* In a child, unless all of it lies on local filesystems (local.h). */
static void
inspect(struct attempt *attempt)
{
	const struct executor *executor = attempt->executor;

	for (unsigned i = 0; i < watched_count; i++) {
		int index = place_of(&executor->boot, watched[i].root);
		scoped_close int root = -1;
		char path[LIMIT_PATH];

		if (index >= 0 &&
		    box_root(&executor->boot, attempt->run.slot, (unsigned)index, path))
			root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (root < 0)
			note(attempt, "the workspace or a write path could not be opened");
		else
			protect_inspect(&watched[i], root, &executor->jobs[attempt->run.slot],
			    attempt->name, note, attempt);
	}
}

static void
inspect_in_child(struct errand *errand)
{
	inspect(errand->source.context);
}

static bool
is_local(const struct executor *executor)
{
	for (unsigned i = 0; i < watched_count; i++) {
		int index = place_of(&executor->boot, watched[i].root);

		if (index < 0 || !executor->local.roots[index])
			return false;
	}
	return true;
}

static void
finish(struct attempt *attempt, bool violated)
{
	struct run_end end = attempt->end;

	if (violated) {
		log_warn("%s: violated: a protected path was made or replaced", attempt->name);
		if (end.outcome != OUTCOME_LOST)
			end.outcome = OUTCOME_VIOLATED;
	}
	attempt_conclude(attempt, &end);
}

static void
on_inspected(struct source *source, uint32_t events)
{
	struct attempt *attempt = source->context;

	(void)events;
	if (!errand_finish(&attempt->executor->loop, &attempt->errand))
		note(attempt, "the protected paths could not be inspected in time");
	finish(attempt, runs_has(runs_of(attempt), attempt->folder, KEEP_VIOLATED));
}

/* Found: the list in the folder, its length; 0: there is none, -1: it cannot be read. */
static ssize_t
find_list(const struct attempt *attempt)
{
	ssize_t length = runs_read(runs_of(attempt), attempt->folder, KEEP_WATCHED, found, sizeof(found));

	if (length < 0 && errno == ENOENT)
		length = runs_read(runs_of(attempt), attempt->folder, KEEP_BEGUN, found, sizeof(found));
	return length < 0 && errno == ENOENT ? 0 : length;
}

/* How it was before. */
static bool
read_watched(const struct attempt *attempt)
{
	ssize_t length;

	if (attempt->fresh) {
		watched = ((const struct start_findings *)attempt->errand.shared)->protect;
		watched_count = attempt->watched;
		return true;
	}
	length = find_list(attempt);
	if (length <= 0 || (size_t)length % sizeof(found[0]) != 0)
		return false;
	watched = found;
	watched_count = (unsigned)((size_t)length / sizeof(found[0]));
	for (unsigned i = 0; i < watched_count; i++)
		if (!protect_is_sound(&found[i]))
			return false;
	return true;
}

/* Nothing was watched where all is read-only, or the job was not begun. */
static bool
is_watched(const struct attempt *attempt)
{
	if (attempt->fresh)
		return attempt->watched > 0;
	return attempt->folder >= 0 && !runs_is_recorded(runs_of(attempt), attempt->folder) &&
	    find_list(attempt) != 0;
}

static int
start_inspection(struct attempt *attempt)
{
	if (!read_watched(attempt)) {
		errno = EBADMSG;
		return -1;
	}
	if (is_local(attempt->executor)) {
		noted = !attempt->fresh && runs_has(runs_of(attempt), attempt->folder, KEEP_VIOLATED);
		inspect(attempt);
		finish(attempt, noted);
		return 0;
	}
	return errand_start(&attempt->executor->loop, &attempt->errand, inspect_in_child, attempt,
	    on_inspected, LIMIT_ASSESS_MS);
}

void
aftermath(struct attempt *attempt, const struct run_end *end)
{
	attempt_forget_keeper(attempt);
	attempt->deadline_us = 0;
	if (!is_watched(attempt)) {
		attempt_conclude(attempt, end);
		return;
	}
	attempt->end = *end;
	attempt->state = ATTEMPT_INSPECTING;
	if (start_inspection(attempt) < 0) {
		log_errno("inspection");
		note(attempt, "the protected paths could not be inspected");
		finish(attempt, true);
	}
}
