/* Protected paths anywhere in a root: what is there before a job, and covered while it runs. */
#include <sys/stat.h>

#include <errno.h>
#include <string.h>

#include "text.h"

#include "mounts.h"
#include "nested.h"
#include "nested_names.h"

/* --- the list --- */

void
nested_begin(struct nested *nested, enum nested_mode mode)
{
	memcpy(nested->magic, NESTED_MAGIC, sizeof(nested->magic));
	nested->mode = mode;
	nested->count = nested->used = 0;
}

size_t
nested_size(const struct nested *nested)
{
	return offsetof(struct nested, bytes) + nested->used;
}

const struct nested_item *
nested_next(const struct nested *nested, size_t *at, const char **path)
{
	const struct nested_item *item = (const void *)(nested->bytes + *at);

	*path = (const char *)(item + 1);
	*at += sizeof(*item) + item->length;
	return item;
}

/* The item at `at` lies whole in what is used, and is one that nested_add() makes. */
static bool
item_is_sound(const struct nested *nested, size_t at)
{
	const struct nested_item *item = (const void *)(nested->bytes + at);
	const char *path = (const char *)(item + 1);

	if (nested->used - at < sizeof(*item))
		return false;
	return item->length > 0 && item->length % 8 == 0 && item->length <= LIMIT_PATH + 8 &&
	    item->length <= nested->used - at - sizeof(*item) && item->kind < NESTED_KINDS &&
	    path[item->length - 1] == '\0' && text_path_is_clean(path);
}

bool
nested_is_sound(const struct nested *nested, size_t size)
{
	uint64_t count = 0;
	const char *path;
	size_t at = 0;

	if (size < offsetof(struct nested, bytes) || memcmp(nested->magic, NESTED_MAGIC, sizeof(nested->magic)) != 0 ||
	    nested->mode > NESTED_OFF || nested->used > NESTED_BYTES || nested->count > NESTED_MOST ||
	    size != nested_size(nested))
		return false;
	for (; at < nested->used; count++) {
		if (!item_is_sound(nested, at))
			return false;
		nested_next(nested, &at, &path);
	}
	return count == nested->count;
}

int
nested_add(struct nested *nested, const struct nested_file *file, enum nested_kind kind, const char *path)
{
	struct nested_item item = { .dev = file->dev, .ino = file->ino, .born_ns = file->born_ns,
		.folder = file->folder, .kind = kind, .length = (uint32_t)((strlen(path) + 8) & ~7ul) };
	unsigned char *to = nested->bytes + nested->used;

	if (nested->count >= NESTED_MOST || NESTED_BYTES - nested->used < sizeof(item) + item.length) {
		errno = E2BIG;
		return -1;
	}
	memcpy(to, &item, sizeof(item));
	memset(to + sizeof(item), 0, item.length);
	memcpy(to + sizeof(item), path, strlen(path));
	nested->used += sizeof(item) + item.length;
	nested->count++;
	return 0;
}

/* --- before the job --- */

static enum nested_kind
kind_of(const struct nested_file *file, bool is_git)
{
	if (S_ISLNK(file->mode))
		return NESTED_LINK;
	return is_git && S_ISDIR(file->mode) ? NESTED_OPEN : NESTED_READ_ONLY;
}

/* Whatever was removed since it was listed is not there. */
static int
add_name(struct looking *looking, const struct walk_step *step, const char *name, bool is_git)
{
	char path[LIMIT_PATH];
	struct nested_file file, folder;

	if (!nested_path(looking->way, step, name, path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (nested_stat(step->fd, name, &file) < 0)
		return errno == ENOENT ? 0 : -1;
	if (nested_stat(step->fd, "", &folder) < 0)
		return -1;
	file.folder = folder.ino;
	return nested_add(looking->nested, &file, kind_of(&file, is_git), path);
}

/* A bare repository, a submodule's or a worktree's, to be known again. */
static int
add_repository(struct looking *looking, const struct walk_step *step)
{
	char path[LIMIT_PATH];
	struct nested_file file;

	if (nested_stat(step->fd, "", &file) < 0)
		return -1;
	if (!nested_path(looking->way, step, "", path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return nested_add(looking->nested, &file, NESTED_KNOWN, path);
}

/* What of this directory is to be noted; what is on the way is protect.h's. */
static uint32_t
to_note(const struct looking *looking, const struct walk_step *step)
{
	uint32_t outer = nested_settings(step->seen) | (step->seen & NAME_GIT), inner = nested_inner(step);

	if (outer && nested_on_way(looking->way, step))
		outer = 0;
	if (inner && nested_git_on_way(looking->way, step))
		inner = 0;
	return outer | inner;
}

static int
look_judge(struct walk *walk, const struct walk_step *step, uint32_t *into)
{
	struct looking *looking = walk->context;
	uint32_t note = to_note(looking, step);

	for (unsigned i = 0; i < NESTED_NAMES; i++)
		if (note >> i & 1 && add_name(looking, step, nested_names[i], 1u << i == NAME_GIT) < 0)
			return -1;
	if (nested_is_repository(step->seen) && add_repository(looking, step) < 0)
		return -1;
	if (nested_inner(step) && nested_look_at_config(looking, step) < 0)
		return -1;
	if (step->seen & NAME_GIT && nested_look_at_pointer(looking, step) < 0)
		return -1;
	/* What is read-only as a whole needs no look into it. */
	*into = step->seen & ~nested_settings(step->seen) & ~(note & NAME_INNER);
	return 0;
}

/* The job could open it: it is read-only as a whole. */
static int
look_closed(struct walk *walk, const struct walk_step *above, const char *name)
{
	return add_name(walk->context, above, name, false);
}

int
nested_look(struct nested *nested, int root_fd, const struct identity *job, const struct protect *way,
    unsigned *entries)
{
	struct looking looking = { nested, way, root_fd };
	struct walk walk = nested_walk(nested->mode, way, *entries, &looking);
	int done, saved;

	walk.judge = look_judge;
	walk.closed = look_closed;
	if (identity_assume(job) < 0)
		return -1;
	done = walk_below(&walk, root_fd);
	saved = errno;
	*entries = walk.entries;
	identity_resume();
	errno = saved;
	return done;
}

/* --- in the cage --- */

/* What is gone by now needs no cover: what takes its place is another inode, and looked at afterwards. */
int
nested_cover(const struct nested *nested)
{
	const char *path;
	size_t at = 0;

	while (at < nested->used) {
		const struct nested_item *item = nested_next(nested, &at, &path);
		bool open = item->kind == NESTED_OPEN;

		if (item->kind != NESTED_READ_ONLY && !open)
			continue;
		if (mounts_fasten(path + 1, open ? MOUNTS_TREE : MOUNTS_SYSTEM | MOUNTS_NO_EXEC) < 0 &&
		    errno != ENOENT && errno != ENOTDIR && errno != ELOOP)
			return -1;
	}
	return 0;
}
