/* Protected paths anywhere in a root: what a job has made of them. */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "scope.h"
#include "text.h"

#include "harmless.h"
#include "harmless_files.h"
#include "nested.h"
#include "nested_names.h"

struct inspection {
	const struct nested *nested;
	const struct protect *way;
	int root_fd;
	struct quarantine put;
};

/* Is it one of those that were there before? */
static bool
is_known(const struct inspection *inspection, const struct nested_file *file)
{
	const char *path;
	size_t at = 0;

	while (at < inspection->nested->used) {
		const struct nested_item *item = nested_next(inspection->nested, &at, &path);

		if (item->ino == file->ino && item->dev == file->dev && item->born_ns == file->born_ns)
			return true;
	}
	return protect_knows(inspection->way, file->ino);
}

static void
put_away(struct inspection *inspection, const struct walk_step *step, const char *name)
{
	char path[LIMIT_PATH];

	if (!nested_path(inspection->way, step, "", path))
		path[0] = '\0'; /* longer than any path: named without its directory */
	quarantine_put_away(&inspection->put, step->fd, path, name, name);
}

/*
 * Was something of this name covered in this very directory?  Then the job could not replace it, nor remove the
 * directory: somebody outside did, whose file is not touched.
 */
static bool
was_covered(const struct inspection *inspection, const struct walk_step *step, const char *name)
{
	struct nested_file folder;
	const char *path;
	size_t at = 0;

	if (nested_stat(step->fd, "", &folder) < 0)
		return false;
	while (at < inspection->nested->used) {
		const struct nested_item *item = nested_next(inspection->nested, &at, &path);

		if ((item->kind == NESTED_READ_ONLY || item->kind == NESTED_OPEN) && item->folder == folder.ino &&
		    item->dev == folder.dev && strcmp(strrchr(path, '/') + 1, name) == 0)
			return true;
	}
	return false;
}

/* Made by the job, and to be put away?  It may be gone again. */
static bool
is_planted(struct inspection *inspection, const struct walk_step *step, const char *name)
{
	struct nested_file file;
	char path[LIMIT_PATH];

	if (nested_stat(step->fd, name, &file) < 0)
		return errno != ENOENT;
	if (is_known(inspection, &file))
		return false;
	if (!was_covered(inspection, step, name) || !nested_path(inspection->way, step, "", path))
		return true;
	quarantine_say(&inspection->put, path, name, "was replaced from outside while the job ran", "");
	inspection->put.violations++;
	return false;
}

/* A new ".git" as git makes it: the directory, or a file that leads to a repository of this root. */
static bool
git_is_harmless(const struct inspection *inspection, const struct walk_step *step)
{
	char path[LIMIT_PATH];

	return harmless_repository(step->fd, ".git", true) ||
	    (walk_path(step, "", path) &&
	    harmless_pointer(step->fd, ".git", inspection->root_fd, inspection->way->root, path));
}

/* Those of the directory's own names that say something to whoever starts there; what of them may stay. */
static uint32_t
inspect_outer(struct inspection *inspection, const struct walk_step *step)
{
	uint32_t outer = nested_settings(step->seen) | (step->seen & NAME_GIT), stays = outer;

	if (!outer || nested_on_way(inspection->way, step))
		return outer;
	for (unsigned i = 0; i < NESTED_NAMES; i++) {
		if (!(outer >> i & 1) || !is_planted(inspection, step, nested_names[i]) ||
		    (1u << i == NAME_GIT && git_is_harmless(inspection, step)))
			continue;
		put_away(inspection, step, nested_names[i]);
		stays &= ~(1u << i);
	}
	return stays;
}

/*
 * A worktree's own part of a repository, "worktrees/NAME" in it: git reads the configuration two levels up, and
 * there must be a repository that was looked at for that.
 */
static bool
is_worktree(const struct walk_step *step)
{
	const struct walk_step *folder = step->above;
	struct stat seen;

	return folder && folder->above && strcmp(folder->name, "worktrees") == 0 &&
	    fstatat(folder->above->fd, "HEAD", &seen, AT_SYMLINK_NOFOLLOW) == 0 && harmless_worktree(step->fd);
}

/* How many directories lie between the root and this one's entries. */
static unsigned
depth_of(const struct walk_step *step)
{
	unsigned depth = 0;

	for (; step->above; step = step->above)
		depth++;
	return depth;
}

/* In a repository that was there only what git believes is looked at, in a new one all. */
static void
inspect_repository(struct inspection *inspection, const struct walk_step *step)
{
	uint32_t inner = nested_inner(step);
	struct nested_file file;
	bool harmless;

	if ((!inner && !nested_is_repository(step->seen)) || nested_git_on_way(inspection->way, step))
		return;
	if (nested_stat(step->fd, "", &file) < 0 || is_known(inspection, &file)) {
		for (unsigned i = 0; i < NESTED_NAMES; i++)
			if (inner >> i & 1 && is_planted(inspection, step, nested_names[i]))
				put_away(inspection, step, nested_names[i]);
		return;
	}
	if (strcmp(step->name, ".git") == 0)
		return; /* git_is_harmless() */
	harmless = step->seen & NAME_COMMONDIR ? is_worktree(step) : harmless_bare(step->fd, depth_of(step));
	if (!harmless)
		put_away(inspection, step, "HEAD"); /* without it git takes it for none */
}

static int
inspect_judge(struct walk *walk, const struct walk_step *step, uint32_t *into)
{
	struct inspection *inspection = walk->context;
	uint32_t stays;

	if (!step->seen)
		return 0;
	stays = inspect_outer(inspection, step);
	inspect_repository(inspection, step);
	*into = (step->seen & (NAME_SETTINGS_FIRST - 1) & ~(uint32_t)NAME_GIT) | (stays & NAME_GIT);
	return 0;
}

/* Nobody can see what is in it, and git would go in: where it may be searched but not listed, or however deep it is. */
static int
inspect_closed(struct walk *walk, const struct walk_step *above, const char *name)
{
	struct inspection *inspection = walk->context;

	if (is_planted(inspection, above, name))
		put_away(inspection, above, name);
	return 0;
}

/* What a configuration from before the job names, and what was not there. */
static void
inspect_absent(struct inspection *inspection)
{
	size_t at = 0, length = strlen(inspection->way->root);
	char folder[LIMIT_PATH];
	const char *path;

	while (at < inspection->nested->used) {
		const struct nested_item *item = nested_next(inspection->nested, &at, &path);
		const char *last = strrchr(path, '/');
		scoped_close int fd = -1;
		struct nested_file file;

		if (item->kind != NESTED_ABSENT || !text_path_within(path, inspection->way->root) ||
		    !harmless_join(path + length + 1, "..", folder, sizeof(folder)))
			continue;
		fd = harmless_open(inspection->root_fd, *folder ? folder : ".", O_PATH | O_DIRECTORY);
		if (fd < 0 || nested_stat(fd, last + 1, &file) < 0)
			continue;
		if (!text_format(folder, sizeof(folder), "%.*s", (int)(last - path), path))
			folder[0] = '\0'; /* cannot be */
		quarantine_put_away(&inspection->put, fd, folder, last + 1, last + 1);
	}
}

int
nested_inspect(const struct nested *nested, const struct protect *way, int root_fd, unsigned *entries,
    const struct quarantine *order, unsigned *violations)
{
	struct inspection inspection = { nested, way, root_fd, *order };
	struct walk walk = nested_walk(nested->mode, way, *entries, &inspection);
	int done, saved;

	walk.judge = inspect_judge;
	walk.closed = inspect_closed;
	if (identity_assume(order->job) < 0)
		return -1;
	done = walk_below(&walk, root_fd);
	saved = errno;
	*entries = walk.entries;
	inspect_absent(&inspection);
	identity_resume();
	*violations += inspection.put.violations;
	errno = saved;
	return done;
}
