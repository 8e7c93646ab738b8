/* Protected paths that a repository's own configuration names: hooks elsewhere, and files that it includes. */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scope.h"
#include "text.h"

#include "git_paths.h"
#include "harmless.h"
#include "harmless_files.h"
#include "nested.h"
#include "nested_names.h"

#define CONFIG_BYTES (1u << 20) /* of one file: thousands of branches */
#define INCLUDES 10             /* in each other, as git's MAX_INCLUDE_DEPTH */

/* One file of configuration.  Paths relative to the root. */
struct config {
	struct looking *looking;
	const char *top; /* where hooks run: the repository's files, or a bare one itself */
	char folder[LIMIT_PATH]; /* that the file lies in */
	unsigned depth;
};

static int read_config(struct looking *looking, const char *path, const char *top, unsigned depth);

/* Covered where it is, watched where it is not.  Through a link neither can be. */
static int
add_target(struct looking *looking, const char *to)
{
	scoped_close int fd = harmless_open(looking->root_fd, *to ? to : ".", O_PATH);
	struct nested_file file = { 0 };
	char path[LIMIT_PATH];

	if (!text_format(path, sizeof(path), "%s%s%s", looking->way->root, *to ? "/" : "", to)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return nested_add(looking->nested, &file, NESTED_ABSENT, path);
	if (fd < 0)
		return errno == ELOOP || errno == EACCES ? 0 : -1; /* EACCES: covered with the closed directory */
	if (nested_stat(fd, "", &file) < 0)
		return -1;
	if (S_ISDIR(file.mode) && text_path_within(looking->way->cwd, path)) {
		errno = EISDIR; /* the job could not work in it */
		return -1;
	}
	return nested_add(looking->nested, &file, NESTED_READ_ONLY, path);
}

/* Relative to the root, or false: it lies elsewhere, out of a job's reach. */
static bool
in_root(const struct config *config, bool hooks, const char *value, char to[LIMIT_PATH])
{
	const char *root = config->looking->way->root + 1;
	char from_top[LIMIT_PATH];

	if (value[0] == '\0' || value[0] == '~')
		return false;
	if (value[0] != '/')
		return harmless_join(hooks ? config->top : config->folder, value, to, LIMIT_PATH);
	if (!harmless_join("", value, from_top, sizeof(from_top)) || strncmp(from_top, root, strlen(root)) != 0 ||
	    (from_top[strlen(root)] && from_top[strlen(root)] != '/'))
		return false;
	return harmless_join("", from_top + strlen(root), to, LIMIT_PATH);
}

static int
take_value(void *context, bool hooks, const char *value)
{
	const struct config *config = context;
	char to[LIMIT_PATH];

	if (!in_root(config, hooks, value, to))
		return 0;
	if (add_target(config->looking, to) < 0)
		return -1;
	return hooks ? 0 : read_config(config->looking, to, config->top, config->depth + 1);
}

/* Its bytes; NULL with errno: E2BIG, or what malloc(3) and read(2) say. */
static char *
read_all(int fd, off_t size, size_t *length)
{
	scoped_free char *text = NULL;
	ssize_t got;
	char *kept;

	if (size > CONFIG_BYTES) {
		errno = E2BIG;
		return NULL;
	}
	text = malloc((size_t)size + 1);
	got = text ? read(fd, text, (size_t)size + 1) : -1;
	if (got > size)
		errno = EAGAIN; /* somebody is writing to it */
	if (got < 0 || got > size)
		return NULL;
	*length = (size_t)got;
	kept = text;
	text = NULL;
	return kept;
}

/* What cannot be opened by this path, by git neither, names nothing. */
static int
read_config(struct looking *looking, const char *path, const char *top, unsigned depth)
{
	struct config config = { .looking = looking, .top = top, .depth = depth };
	scoped_close int fd = harmless_open(looking->root_fd, path, 0);
	scoped_free char *text = NULL;
	struct stat seen;
	size_t length;

	if (depth > INCLUDES) {
		errno = E2BIG;
		return -1;
	}
	if (fd < 0 || fstat(fd, &seen) < 0 || !S_ISREG(seen.st_mode))
		return 0;
	text = read_all(fd, seen.st_size, &length);
	if (!text)
		return -1;
	if (!harmless_join(path, "..", config.folder, sizeof(config.folder))) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return git_paths(text, length, take_value, &config);
}

/* The configuration in this directory, for files that lie in `top`. */
static int
read_both(struct looking *looking, const char *git, const char *top)
{
	static const char *const names[] = { "config", "config.worktree" };
	char path[LIMIT_PATH];

	for (unsigned i = 0; i < 2; i++)
		if (harmless_join(git, names[i], path, sizeof(path)) && read_config(looking, path, top, 0) < 0)
			return -1;
	return 0;
}

int
nested_look_at_config(struct looking *looking, const struct walk_step *step)
{
	char git[LIMIT_PATH], top[LIMIT_PATH];

	if (!(step->seen & (NAME_CONFIG | NAME_CONFIG_WORKTREE)) || step->seen & NAME_COMMONDIR)
		return 0; /* a worktree's: see below */
	if (!walk_path(step, "", git) ||
	    !harmless_join(git, strcmp(step->name, ".git") == 0 ? ".." : ".", top, sizeof(top))) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return read_both(looking, git, top);
}

/* A ".git" that is a file: what it leads to has a configuration, or, of a worktree, one two levels up. */
int
nested_look_at_pointer(struct looking *looking, const struct walk_step *step)
{
	char text[LIMIT_PATH + 16], top[LIMIT_PATH], git[LIMIT_PATH], common[LIMIT_PATH];
	ssize_t length = harmless_read(step->fd, ".git", text, sizeof(text));

	if (length <= 0 || !walk_path(step, "", top) ||
	    !harmless_target(text, (size_t)length, looking->way->root, top, git, sizeof(git)))
		return 0;
	if (read_both(looking, git, top) < 0)
		return -1;
	return harmless_join(git, "../..", common, sizeof(common)) ? read_both(looking, common, top) : 0;
}
