/* A new repository that runs nothing. */
#include <sys/stat.h>
#include <sys/syscall.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "scope.h"

#include "harmless.h"
#include "harmless_files.h"

#define NAMES_MOST 64 /* in one directory */
#define SAMPLE ".sample"

int
harmless_open(int at, const char *name, uint64_t flags)
{
	struct open_how how = { .flags = flags | O_CLOEXEC | (flags & O_PATH ? 0 : O_NONBLOCK),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS };

	return (int)syscall(SYS_openat2, at, name, &how, sizeof(how));
}

/* A second name would let another job write to it where the first is covered. */
ssize_t
harmless_read(int at, const char *name, char *bytes, size_t size)
{
	scoped_close int fd = harmless_open(at, name, 0);
	struct stat seen;
	ssize_t length;

	if (fd < 0 || fstat(fd, &seen) < 0 || !S_ISREG(seen.st_mode) || seen.st_nlink != 1)
		return -1;
	length = read(fd, bytes, size);
	return length == seen.st_size && (size_t)length < size ? length : -1;
}

static bool
config_is_harmless(int git, unsigned depth)
{
	char text[HARMLESS_CONFIG_BYTES + 1];
	struct stat seen;
	ssize_t length;

	if (fstatat(git, "config", &seen, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT;
	length = harmless_read(git, "config", text, sizeof(text));
	return length >= 0 && harmless_config(text, (size_t)length, depth);
}

static bool
is_sample(const char *name)
{
	size_t length = strlen(name);

	return length > strlen(SAMPLE) && strcmp(name + length - strlen(SAMPLE), SAMPLE) == 0;
}

/* Is every name in this directory, which may be absent, a good one? */
static bool
all_names(int at, const char *directory, bool (*good)(const char *name))
{
	int fd = harmless_open(at, directory, O_DIRECTORY);
	const struct dirent *entry;
	unsigned count = 0;
	bool all = true;
	DIR *list;

	if (fd < 0)
		return errno == ENOENT;
	list = fdopendir(fd);
	if (!list) {
		close(fd);
		return false;
	}
	errno = 0;
	while (all && (entry = readdir(list)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			all = good(entry->d_name) && ++count <= NAMES_MOST;
	all &= errno == 0;
	closedir(list);
	return all;
}

static bool
is_one_of(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/*
 * Not known: other configurations (commondir, config.worktree), remotes of the old kind, commands that go on where
 * they were left and run what their files say (rebase-merge), and what a later git has.  A lock is a file that is
 * nothing yet: another job may just be at work here.
 */
static bool
is_known(const char *name)
{
	static const char *const names[] = { "HEAD", "config", "description", "hooks", "info", "objects", "refs",
		"branches", "logs", "index", "COMMIT_EDITMSG", "FETCH_HEAD", "ORIG_HEAD", "packed-refs", "shallow",
		"gc.log", "gc.pid", "HEAD.lock", "config.lock", "index.lock", "packed-refs.lock", "shallow.lock" };

	return is_one_of(name, names, sizeof(names) / sizeof(names[0]));
}

static bool
is_known_deep(const char *name)
{
	return strcmp(name, "modules") == 0 || strcmp(name, "worktrees") == 0 || is_known(name);
}

static bool
is_known_of_worktree(const char *name)
{
	static const char *const names[] = { "HEAD", "commondir", "gitdir", "index", "locked", "logs", "refs",
		"modules", "COMMIT_EDITMSG", "FETCH_HEAD", "ORIG_HEAD", "HEAD.lock", "index.lock" };

	return is_one_of(name, names, sizeof(names) / sizeof(names[0]));
}

static bool
is_harmless(int git, unsigned depth, bool (*good)(const char *name))
{
	return all_names(git, ".", good) && all_names(git, "hooks", is_sample) && config_is_harmless(git, depth);
}

bool
harmless_repository(int at, const char *name, bool deep)
{
	scoped_close int git = harmless_open(at, name, O_DIRECTORY);

	return git >= 0 && is_harmless(git, 0, deep ? is_known_deep : is_known);
}

bool
harmless_bare(int directory, unsigned depth)
{
	return is_harmless(directory, depth, is_known_deep);
}

bool
harmless_worktree(int directory)
{
	static const char up[] = "../..\n";
	char text[sizeof(up) + 1];

	return all_names(directory, ".", is_known_of_worktree) &&
	    harmless_read(directory, "commondir", text, sizeof(text)) == (ssize_t)strlen(up) &&
	    memcmp(text, up, strlen(up)) == 0;
}
