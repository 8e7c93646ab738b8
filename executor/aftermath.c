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
#include "nested.h"
#include "places.h"
#include "protect.h"
#include "start.h"
#include "walk.h"

#define LINE_BYTES (LIMIT_PATH + 1100)

/* Of the run in work, or whose child is being made. */
static const struct protect *watched;
static unsigned watched_count;
static const struct nested *nested;
static bool noted; /* something was violated */

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

/* What was not looked through may hold anything. */
static void
note_unseen(struct attempt *attempt, const char *root)
{
	char text[LINE_BYTES];

	if (!text_format(text, sizeof(text), "%s: not all of it could be looked through: %s", root,
	    errno == E2BIG ? "more than two million entries" : strerror(errno)))
		text[0] = '\0'; /* cannot be */
	note(attempt, text);
}

/* A root or a write path: whichever it was. */
static int
place_of(const struct boot *boot, const char *path)
{
	int root = bounds_root(boot, path);

	return root >= 0 ? root : bounds_extra(boot, &(struct plan_extra){ path, true });
}

/* A mount of it as the slot's job has it; -1 with errno. */
static int
open_place(const struct attempt *attempt, const char *path)
{
	const struct boot *boot = &attempt->executor->boot;
	int index = place_of(boot, path);
	char shown[LIMIT_PATH];

	if (index >= 0 && box_root(boot, attempt->run.slot, (unsigned)index, shown))
		return open(shown, O_PATH | O_DIRECTORY | O_CLOEXEC);
	errno = ENOENT;
	return -1;
}

/* One place.  False when it has more than *entries and that is not all that may be: a child goes through it. */
static bool
inspect_place(struct attempt *attempt, const struct protect *way, unsigned *entries, bool in_child)
{
	const bool deep = nested->mode != NESTED_OFF;
	const struct quarantine order = { .job = executor_job(attempt->executor, attempt->run.slot,
		place_of(&attempt->executor->boot, way->root)), .run = attempt->name,
		.tell = note, .context = attempt };
	scoped_close int root = open_place(attempt, way->root);
	unsigned violations = 0;

	if (root < 0) {
		note(attempt, "the workspace or a write path could not be opened");
		return true;
	}
	if (deep && nested_inspect(nested, way, root, entries, &order, &violations) < 0) {
		if (errno == E2BIG && !in_child)
			return false;
		note_unseen(attempt, way->root);
	}
	protect_inspect(way, root, deep, &order);
	return true;
}

/* All of it, or here what is little.  A place with more is not taken for a local one any more. */
static bool
inspect(struct attempt *attempt, bool in_child)
{
	unsigned entries = in_child ? WALK_ENTRIES : NESTED_ENTRIES_AT_ONCE;

	for (unsigned i = 0; i < watched_count; i++)
		if (!inspect_place(attempt, &watched[i], &entries, in_child)) {
			attempt->executor->local.roots[place_of(&attempt->executor->boot, watched[i].root)] = false;
			return false;
		}
	return true;
}

static void
inspect_in_child(struct errand *errand)
{
	inspect(errand->source.context, true);
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

/* What note_begun() of start.c has written. */
static struct {
	struct protect protect[PLACES_MOST];
	struct nested nested; /* wherever it lies in the file: behind the last of the above that is in use */
} found;

/* Found: the list in the folder, its length; 0: there is none, -1: it cannot be read. */
static ssize_t
find_list(const struct attempt *attempt)
{
	ssize_t length = runs_read(runs_of(attempt), attempt->folder, KEEP_WATCHED, &found, sizeof(found));

	if (length < 0 && errno == ENOENT)
		length = runs_read(runs_of(attempt), attempt->folder, KEEP_BEGUN, &found, sizeof(found));
	return length < 0 && errno == ENOENT ? 0 : length;
}

/* Of `length` bytes that were found. */
static bool
take_list(size_t length)
{
	unsigned count = 0;

	while (count < PLACES_MOST && length >= sizeof(found.protect[0]) && protect_is_sound(&found.protect[count])) {
		length -= sizeof(found.protect[0]);
		count++;
	}
	watched = found.protect;
	watched_count = count;
	nested = (const void *)(found.protect + count);
	return count > 0 && nested_is_sound(nested, length);
}

/* How it was before. */
static bool
read_watched(const struct attempt *attempt)
{
	const struct start_findings *findings = attempt->errand.shared;
	ssize_t length;

	if (attempt->fresh) {
		watched = findings->protect;
		watched_count = attempt->watched;
		nested = &findings->nested;
		return true;
	}
	length = find_list(attempt);
	return length > 0 && take_list((size_t)length);
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
		if (inspect(attempt, false)) {
			finish(attempt, noted);
			return 0;
		}
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
