/* The workspace and what lies beside it. */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "scope.h"
#include "text.h"

#include "bounds.h"
#include "box.h"
#include "mounts.h"
#include "places.h"

/* --- before the fork --- */

/* Behind all that are not longer. */
static void
add(struct places *places, const char *path, int root, bool read_only)
{
	unsigned at = places->count++;

	for (; at > 0 && strlen(places->all[at - 1].path) > strlen(path); at--)
		places->all[at] = places->all[at - 1];
	places->all[at] = (struct places_one){ .path = path, .root = (unsigned)root,
		.read_only = read_only, .tree = -1 };
}

void
places_fill(struct places *places, const struct boot *boot, const struct plan *plan)
{
	int root = bounds_root(boot, plan->root);

	*places = (struct places){ .root = plan->root };
	add(places, plan->root, root, boot->roots[root].flags & ROOT_READ_ONLY);
	for (size_t i = 0; i < plan->extra_count; i++)
		add(places, plan->extras[i].path, bounds_extra(boot, &plan->extras[i]),
		    !plan->extras[i].write);
}

bool
places_hold(const struct places *places, const char *path)
{
	for (unsigned i = 0; i < places->count; i++)
		if (text_path_within(path, places->all[i].path))
			return true;
	return false;
}

/* --- after it --- */

static int
fail(int error)
{
	errno = error;
	return -1;
}

static int
take(struct places_one *place, const struct boot *boot, unsigned slot, uid_t job)
{
	uint64_t attributes = MOUNTS_TREE | (place->read_only ? MOUNTS_READ_ONLY : 0);
	char path[LIMIT_PATH];
	struct stat seen;

	if (!box_root(boot, slot, place->root, path))
		return fail(ENAMETOOLONG);
	place->tree = mounts_copy(AT_FDCWD, path, attributes);
	if (place->tree < 0 || fstat(place->tree, &seen) < 0)
		return -1;
	place->is_file = !S_ISDIR(seen.st_mode);
	if (boot->roots[place->root].flags & ROOT_EXTRA_READ || seen.st_uid == job)
		return 0;
	return fail(EUCLEAN); /* the map does not show the owner as the job */
}

int
places_take(struct places *places, const struct boot *boot, unsigned slot, uid_t job)
{
	for (unsigned i = 0; i < places->count; i++)
		if (take(&places->all[i], boot, slot, job) < 0)
			return -1;
	return 0;
}

/* The innermost place around this one, or NULL. */
static const struct places_one *
outer(const struct places *places, unsigned index)
{
	for (unsigned i = index; i > 0; i--)
		if (text_path_within(places->all[index].path, places->all[i - 1].path))
			return &places->all[i - 1];
	return NULL;
}

/* Each directory between the two becomes a mount point, which cannot be renamed or removed. */
static int
fasten_way(const char *from, const char *path)
{
	size_t at = strlen(from);
	char step[LIMIT_PATH];

	for (;;) {
		at += 1 + strcspn(path + at + 1, "/");
		if (!path[at])
			return 0;
		memcpy(step, path + 1, at - 1);
		step[at - 1] = '\0';
		if (mounts_fasten(step, MOUNTS_TREE) < 0)
			return -1;
	}
}

/* As the job, which may walk where nobody else may; no link on the way. */
static int
attach_inside(const struct places_one *around, struct places_one *place)
{
	scoped_close int point = -1;
	int tree = place->tree;

	if (!around->read_only && fasten_way(around->path, place->path) < 0)
		return -1;
	point = mounts_open(AT_FDCWD, place->path + 1);
	if (point < 0)
		return -1;
	place->tree = -1;
	return mounts_attach_to(tree, point);
}

static int
attach_alone(struct places_one *place)
{
	int tree = place->tree;

	if (mounts_point(AT_FDCWD, place->path, place->is_file) < 0)
		return -1;
	place->tree = -1;
	return mounts_attach(tree, AT_FDCWD, place->path + 1);
}

int
places_mount(struct places *places, const struct identity *job)
{
	for (unsigned i = 0; i < places->count; i++) {
		const struct places_one *around = outer(places, i);
		int done, saved;

		if (!around) {
			if (attach_alone(&places->all[i]) < 0)
				return -1;
			continue;
		}
		if (identity_assume(job) < 0)
			return -1;
		done = attach_inside(around, &places->all[i]);
		saved = errno;
		identity_resume();
		errno = saved;
		if (done < 0)
			return -1;
	}
	return 0;
}

int
places_cover_policy(const struct places *places, const char *policy)
{
	for (unsigned i = places->count; policy[0] && i > 0; i--) {
		const struct places_one *place = &places->all[i - 1];

		if (!text_path_within(policy, place->path))
			continue;
		/* The innermost: what is read-only needs no more. */
		if (place->read_only)
			return 0;
		if (strcmp(policy, place->path) != 0 && fasten_way(place->path, policy) < 0)
			return -1;
		return mounts_fasten(policy + 1, MOUNTS_SYSTEM | MOUNTS_NO_EXEC);
	}
	return 0;
}
