/* Through a tree, whoever has made it. */
#include <sys/stat.h>
#include <sys/syscall.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <unistd.h>

#include "scope.h"
#include "text.h"

#include "walk.h"

#define LIST_BYTES 4096 /* on the stack of each directory on the way down */

static int go_into(struct walk *walk, const struct walk_step *above, const char *name, unsigned depth);

/* "NAME/.", so that one that may be read but not searched is closed as well. */
static int
open_directory(int at, const char *name)
{
	struct open_how how = { .flags = O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS };
	char path[NAME_MAX + 3];

	if (!text_format(path, sizeof(path), "%s/.", *name ? name : ".")) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return (int)syscall(SYS_openat2, at, path, &how, sizeof(how));
}

static bool
is_dots(const char *name)
{
	return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

/* Where the file system does not say it in its list, the file itself is asked. */
static bool
is_directory(int at, const struct dirent64 *entry)
{
	struct stat seen;

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	return fstatat(at, entry->d_name, &seen, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(seen.st_mode);
}

/* Its number among the wanted, or their count. */
static unsigned
number_of(const struct walk *walk, const char *name)
{
	unsigned i = 0;

	while (i < walk->wanted_count && (name[0] != walk->wanted[i][0] || strcmp(name, walk->wanted[i]) != 0))
		i++;
	return i;
}

static int
take_entry(struct walk *walk, struct walk_step *step, const struct dirent64 *entry, unsigned depth)
{
	unsigned number;

	if (is_dots(entry->d_name))
		return 0;
	if (walk->entries == 0) {
		errno = E2BIG;
		return -1;
	}
	walk->entries--;
	number = number_of(walk, entry->d_name);
	if (number < walk->wanted_count) {
		step->seen |= 1u << number;
		return 0;
	}
	if (!is_directory(step->fd, entry) || walk->skip(step, entry->d_name))
		return 0;
	return go_into(walk, step, entry->d_name, depth + 1);
}

/* A part of the list at a time.  A directory that was removed has none. */
static int
read_entries(struct walk *walk, struct walk_step *step, unsigned depth)
{
	_Alignas(struct dirent64) char list[LIST_BYTES];
	ssize_t length;

	while ((length = getdents64(step->fd, list, sizeof(list))) > 0)
		for (ssize_t at = 0; at < length;) {
			const struct dirent64 *entry = (const void *)(list + at);

			if (take_entry(walk, step, entry, depth) < 0)
				return -1;
			at += entry->d_reclen;
		}
	return length == 0 || errno == ENOENT ? 0 : -1;
}

static int
go_into_wanted(struct walk *walk, const struct walk_step *step, uint32_t which, unsigned depth)
{
	for (unsigned i = 0; i < walk->wanted_count; i++)
		if (which >> i & 1 && go_into(walk, step, walk->wanted[i], depth + 1) < 0)
			return -1;
	return 0;
}

static int
go_through(struct walk *walk, struct walk_step *step, unsigned depth)
{
	uint32_t into = 0;

	if (read_entries(walk, step, depth) < 0 || walk->judge(walk, step, &into) < 0)
		return -1;
	return go_into_wanted(walk, step, into & step->seen, depth);
}

static int
go_into(struct walk *walk, const struct walk_step *above, const char *name, unsigned depth)
{
	struct walk_step step = { .above = above, .name = name,
		.length = above->length + (above->length > 0) + strlen(name) };
	scoped_close int directory = -1;

	if (depth > WALK_DEPTH || step.length > walk->path_most)
		return walk->closed(walk, above, name);
	directory = open_directory(above->fd, name);
	if (directory >= 0) {
		step.fd = directory;
		return go_through(walk, &step, depth);
	}
	if (errno == EACCES)
		return walk->closed(walk, above, name);
	return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? 0 : -1; /* gone, or no directory */
}

int
walk_below(struct walk *walk, int root_fd)
{
	scoped_close int directory = open_directory(root_fd, "");
	struct walk_step root = { .name = "", .fd = directory };

	return directory < 0 ? -1 : go_through(walk, &root, 0);
}

/* From its end to its begin. */
bool
walk_path(const struct walk_step *step, const char *name, char path[LIMIT_PATH])
{
	size_t at = LIMIT_PATH - 1;

	path[at] = '\0';
	for (; step; name = step->name, step = step->above) {
		size_t length = strlen(name);
		size_t slash = path[at] && length > 0;

		if (length + slash > at)
			return false;
		if (slash)
			path[--at] = '/';
		at -= length;
		memcpy(path + at, name, length);
	}
	memmove(path, path + at, LIMIT_PATH - at);
	return true;
}
