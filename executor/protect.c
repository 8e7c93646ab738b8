/* Protected paths: how they are before a job, and covered while it runs. */
#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <unistd.h>

#include "place.h"
#include "scope.h"
#include "text.h"

#include "mounts.h"
#include "protect.h"

/*
 * ".git" comes before what is in it.  Of ".git": a file is a pointer to another repository;
 * "commondir" would lead git to another configuration.
 */
static const char *const names[PROTECT_NAMES] = { ".git", ".git/hooks", ".git/config",
	".git/config.worktree", ".git/commondir", ".claude", ".codex", ".cursor", ".gemini",
	".mcp.json", ".opencode", ".vscode", "opencode.json",
	"opencode.jsonc", PLACE_POLICY_NAME };

static bool
is_within_git(unsigned item)
{
	return strncmp(names[item], ".git/", 5) == 0;
}

const char *
protect_name(unsigned item)
{
	return names[item];
}

bool
protect_directory(const struct protect *protect, unsigned index, char path[LIMIT_PATH])
{
	size_t length = strlen(protect->root);

	if (length == 1)
		length = 0; /* the root "/" */
	while (index-- > 0 && protect->cwd[length])
		length += 1 + strcspn(protect->cwd + length + 1, "/");
	if (length >= LIMIT_PATH)
		return false;
	memcpy(path, protect->cwd, length);
	path[length] = '\0';
	return true;
}

/* --- before the job --- */

/* No link on the way: the directory is a part of the canonical working directory. */
static int
open_directory(const struct protect *protect, int root_fd, unsigned index)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS };
	char path[LIMIT_PATH];
	const char *below;

	if (!protect_directory(protect, index, path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	below = index == 0 ? "" : path + strlen(protect->root);
	below += strspn(below, "/");
	return (int)syscall(SYS_openat2, root_fd, *below ? below : ".", &how, sizeof(how));
}

/*
 * A ".git" that its owner has closed, which the job could open again: read-only as a whole, like a
 * file.  "hooks" is the first in it that is asked for.
 */
static int
look_at_item(int directory, unsigned number, struct protect_item *git, struct protect_item *item)
{
	struct stat seen;

	if (is_within_git(number) && git->kind != PROTECT_DIRECTORY) {
		item->kind = PROTECT_WITHIN;
		return 0;
	}
	if (fstatat(directory, names[number], &seen, AT_SYMLINK_NOFOLLOW) < 0) {
		if (errno == EACCES && is_within_git(number)) {
			git->kind = PROTECT_FILE;
			item->kind = PROTECT_WITHIN;
			return 0;
		}
		item->kind = PROTECT_ABSENT;
		return errno == ENOENT ? 0 : -1;
	}
	item->ino = seen.st_ino;
	item->kind = S_ISLNK(seen.st_mode) ? PROTECT_LINK : S_ISDIR(seen.st_mode) ?
	    PROTECT_DIRECTORY : PROTECT_FILE;
	return 0;
}

static int
look_at_directory(struct protect *protect, int root_fd, unsigned index)
{
	scoped_close int directory = open_directory(protect, root_fd, index);
	struct stat seen;

	if (directory < 0 || fstat(directory, &seen) < 0)
		return -1;
	protect->inos[index] = seen.st_ino;
	for (unsigned i = 0; i < PROTECT_NAMES; i++)
		if (look_at_item(directory, i, &protect->items[index][PROTECT_GIT],
		    &protect->items[index][i]) < 0)
			return -1;
	return 0;
}

/* How many components lie below the root. */
static uint64_t
count_directories(const char *root, const char *cwd)
{
	const char *at = cwd + (strlen(root) == 1 ? 0 : strlen(root));
	uint64_t count = 1;

	for (; *at; at++)
		if (at[0] == '/' && at[1])
			count++;
	return count;
}

int
protect_look(struct protect *protect, int root_fd, const struct identity *job, const char *root,
    const char *cwd)
{
	int done = 0, saved;

	memset(protect, 0, sizeof(*protect));
	memcpy(protect->magic, PROTECT_MAGIC, sizeof(protect->magic));
	if (!text_copy(protect->root, LIMIT_PATH, root) || !text_copy(protect->cwd, LIMIT_PATH, cwd) ||
	    (protect->directories = count_directories(root, cwd)) > PROTECT_DIRECTORIES) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (identity_assume(job) < 0)
		return -1;
	for (unsigned i = 0; done == 0 && i < protect->directories; i++)
		done = look_at_directory(protect, root_fd, i);
	saved = errno;
	identity_resume();
	errno = saved;
	return done;
}

bool
protect_is_sound(const struct protect *protect)
{
	return memcmp(protect->magic, PROTECT_MAGIC, sizeof(protect->magic)) == 0 &&
	    memchr(protect->root, '\0', LIMIT_PATH) && memchr(protect->cwd, '\0', LIMIT_PATH) &&
	    text_path_is_clean(protect->root) && text_path_is_clean(protect->cwd) &&
	    text_path_within(protect->cwd, protect->root) &&
	    protect->directories == count_directories(protect->root, protect->cwd) &&
	    protect->directories <= PROTECT_DIRECTORIES;
}

bool
protect_knows(const struct protect *protect, uint64_t ino)
{
	for (uint64_t i = 0; i < protect->directories; i++)
		for (unsigned item = 0; item < PROTECT_NAMES; item++)
			if (protect->items[i][item].kind != PROTECT_ABSENT &&
			    protect->items[i][item].kind != PROTECT_WITHIN &&
			    protect->items[i][item].ino == ino)
				return true;
	return false;
}

/* --- in the cage --- */

/*
 * ".git" as a directory stays writable, git commits into it, but as a mount point it cannot be
 * renamed away and replaced.
 */
static int
cover(const char *path, unsigned item, const struct protect_item *was)
{
	bool open = item == PROTECT_GIT && was->kind == PROTECT_DIRECTORY;

	if (was->kind != PROTECT_FILE && was->kind != PROTECT_DIRECTORY)
		return 0;
	return mounts_fasten(path, open ? MOUNTS_TREE : MOUNTS_SYSTEM | MOUNTS_NO_EXEC);
}

int
protect_cover(const struct protect *protect)
{
	char directory[LIMIT_PATH], path[LIMIT_PATH];

	for (unsigned i = 0; i < protect->directories; i++) {
		if (!protect_directory(protect, i, directory)) {
			errno = ENAMETOOLONG;
			return -1;
		}
		for (unsigned item = 0; item < PROTECT_NAMES; item++) {
			if (!text_format(path, sizeof(path), "%s/%s", directory, names[item])) {
				errno = ENAMETOOLONG;
				return -1;
			}
			if (cover(path + 1, item, &protect->items[i][item]) < 0)
				return -1;
		}
	}
	return 0;
}
