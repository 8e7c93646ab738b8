/* What matters in a directory, and where it is. */
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "place.h"
#include "text.h"

#include "nested.h"
#include "nested_names.h"

const char *const nested_names[NESTED_NAMES] = { ".git", "HEAD", "objects", "refs", "commondir", "config",
	"config.worktree", "hooks", ".claude", ".codex", ".cursor", ".gemini", ".mcp.json", ".opencode", ".vscode",
	"opencode.json", "opencode.jsonc", PLACE_POLICY_NAME };

static bool
is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/*
 * objects/ab of a repository: up to 256 directories in which git keeps nothing but objects.  One with a directory in
 * it has a third name, where the file system counts them, and is none.  Nothing may point into one
 * (harmless_pointer()).
 */
static bool
is_fan(const struct walk_step *above, const char *name)
{
	struct stat seen;

	if (!is_hex(name[0]) || !is_hex(name[1]) || name[2] || strcmp(above->name, "objects") != 0)
		return false;
	if (strcmp(above->above->name, ".git") != 0 &&
	    fstatat(above->above->fd, "HEAD", &seen, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	return fstatat(above->fd, name, &seen, AT_SYMLINK_NOFOLLOW) == 0 && seen.st_nlink == 2;
}

struct walk
nested_walk(uint64_t mode, const struct protect *way, unsigned entries, void *context)
{
	return (struct walk){ .wanted = nested_names, .wanted_count = mode == NESTED_REPOSITORIES ?
	    (unsigned)__builtin_ctz(NAME_SETTINGS_FIRST) : NESTED_NAMES, .entries = entries, .context = context,
	    .path_most = LIMIT_PATH - strlen(way->root) - NAME_MAX - 3, .skip = is_fan };
}

uint32_t
nested_inner(const struct walk_step *step)
{
	bool is = strcmp(step->name, ".git") == 0 || nested_is_repository(step->seen);

	return is ? step->seen & NAME_INNER : 0;
}

static uint64_t
nanoseconds(struct statx_timestamp time)
{
	return (uint64_t)time.tv_sec * 1000000000u + time.tv_nsec;
}

/* Where the file system does not tell a birth, of a link the time of its last change. */
int
nested_stat(int at, const char *name, struct nested_file *file)
{
	struct statx seen;

	if (statx(at, name, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &seen) < 0)
		return -1;
	*file = (struct nested_file){ .dev = makedev(seen.stx_dev_major, seen.stx_dev_minor), .ino = seen.stx_ino,
		.mode = seen.stx_mode };
	if (seen.stx_mask & STATX_BTIME)
		file->born_ns = nanoseconds(seen.stx_btime);
	else if (S_ISLNK(seen.stx_mode))
		file->born_ns = nanoseconds(seen.stx_ctime);
	return 0;
}

bool
nested_path(const struct protect *way, const struct walk_step *step, const char *name, char path[LIMIT_PATH])
{
	const char *root = strcmp(way->root, "/") == 0 ? "" : way->root;
	char below[LIMIT_PATH];

	return walk_path(step, name, below) &&
	    text_format(path, LIMIT_PATH, "%s%s%s", root, *below ? "/" : "", below);
}

bool
nested_on_way(const struct protect *way, const struct walk_step *step)
{
	char path[LIMIT_PATH];

	return nested_path(way, step, "", path) && text_path_within(way->cwd, path);
}

bool
nested_git_on_way(const struct protect *way, const struct walk_step *step)
{
	return strcmp(step->name, ".git") == 0 && nested_on_way(way, step->above);
}
