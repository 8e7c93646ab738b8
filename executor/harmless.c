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

#define NAMES_MOST 64 /* in one directory */
#define SAMPLE ".sample"

bool
harmless_config(const char *text, size_t length)
{
	static const char *const lines[] = { "", "[core]", "repositoryformatversion = 0", "filemode = true",
		"filemode = false", "bare = false", "logallrefupdates = true", "ignorecase = true",
		"symlinks = false" };
	const char *end = text + length;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t size = (size_t)((newline ? newline : end) - text);
		bool known = false;

		if (size > 0 && *text == '\t') {
			text++;
			size--;
		}
		for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
			known |= strlen(lines[i]) == size && memcmp(lines[i], text, size) == 0;
		if (!known)
			return false;
		text += size + (newline != NULL);
	}
	return true;
}

/* Below a directory, through no link. */
static int
open_below(int at, const char *name, uint64_t flags)
{
	struct open_how how = { .flags = flags | O_RDONLY | O_NONBLOCK | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV };

	return (int)syscall(SYS_openat2, at, name, &how, sizeof(how));
}

/* A second name would let another job write to it where the first is covered. */
static bool
config_is_harmless(int git)
{
	scoped_close int fd = open_below(git, "config", 0);
	char text[HARMLESS_CONFIG_BYTES + 1];
	struct stat seen;
	ssize_t length;

	if (fd < 0)
		return errno == ENOENT;
	if (fstat(fd, &seen) < 0 || !S_ISREG(seen.st_mode) || seen.st_nlink != 1)
		return false;
	length = read(fd, text, sizeof(text));
	return length == seen.st_size && length <= HARMLESS_CONFIG_BYTES && harmless_config(text, (size_t)length);
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
	int fd = open_below(at, directory, O_DIRECTORY);
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

/*
 * Not known: other configurations (commondir, config.worktree, modules, worktrees), remotes of the old kind,
 * commands that go on where they were left and run what their files say (rebase-merge), and what a later git has.
 */
static bool
is_known(const char *name)
{
	static const char *const names[] = { "HEAD", "config", "description", "hooks", "info", "objects", "refs",
		"branches", "logs", "index", "COMMIT_EDITMSG", "ORIG_HEAD", "packed-refs", "gc.log" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

bool
harmless_repository(int at, const char *name)
{
	scoped_close int git = open_below(at, name, O_DIRECTORY);

	return git >= 0 && all_names(git, ".", is_known) && all_names(git, "hooks", is_sample) &&
	    config_is_harmless(git);
}
