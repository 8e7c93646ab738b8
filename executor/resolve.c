/* The component walker. */
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <unistd.h>

#include "text.h"

#include "resolve.h"

/* rest: what is still to be walked, without a leading slash. */
struct walk {
	const struct resolve_world *world;
	struct resolved *result;
	int here_fd;
	char here[LIMIT_PATH], rest[2 * LIMIT_PATH];
	unsigned links, steps;
	bool inside, firm;
};

static bool
is_firm(const struct walk *walk, const struct stat *stat)
{
	return !(stat->st_mode & (S_IWGRP | S_IWOTH)) &&
	    !identity_listed(&walk->world->ours, stat->st_uid);
}

static int
fail(int error)
{
	errno = error;
	return -1;
}

/* Not to be walked by us. */
static int
stop(const struct walk *walk)
{
	*walk->world->elsewhere = true;
	return fail(EXDEV);
}

/* One component, whatever it is; a link is not followed. */
static int
open_component(const struct walk *walk, const char *name)
{
	struct open_how how = { .flags = O_PATH | O_NOFOLLOW | O_CLOEXEC };
	int fd;

	if (walk->world->elsewhere)
		how.resolve = RESOLVE_NO_XDEV;
	fd = (int)syscall(SYS_openat2, walk->here_fd, name, &how, sizeof(how));
	return fd < 0 && errno == EXDEV && walk->world->elsewhere ? stop(walk) : fd;
}

/* Stand on fd, which is the directory `path`; seen: of fd. */
static int
stand_on(struct walk *walk, int fd, const char *path, const struct stat *seen)
{
	if (walk->here_fd >= 0)
		close(walk->here_fd);
	walk->here_fd = fd;
	if (path != walk->here && !text_copy(walk->here, sizeof(walk->here), path))
		return fail(ENAMETOOLONG);
	walk->firm = walk->firm && !walk->inside && is_firm(walk, seen);
	return 0;
}

static int
stand(struct walk *walk, int fd, const char *path)
{
	struct stat seen;
	int error;

	if (fd < 0)
		return -1;
	if (fstat(fd, &seen) == 0)
		return stand_on(walk, fd, path, &seen);
	error = errno;
	close(fd);
	return fail(error);
}

static int
stand_at_top(struct walk *walk)
{
	if (walk->inside)
		identity_resume();
	walk->inside = false;
	return stand(walk, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), "/");
}

/* Put text and a slash before what is left. */
static int
push(struct walk *walk, const char *text)
{
	char old[sizeof(walk->rest)];

	memcpy(old, walk->rest, sizeof(old));
	if (!text_format(walk->rest, sizeof(walk->rest), old[0] ? "%s/%s" : "%s%s", text, old))
		return fail(ENAMETOOLONG);
	return 0;
}

static void
skip_slashes(struct walk *walk)
{
	size_t count = strspn(walk->rest, "/");

	memmove(walk->rest, walk->rest + count, strlen(walk->rest + count) + 1);
}

/* Does what is left lead straight into the root?  Then stand there. */
static int
enter_root(struct walk *walk)
{
	const struct resolve_world *world = walk->world;
	const char *below = world->root;
	size_t length;

	if (walk->inside || world->root_fd < 0 || !text_path_within(world->root, walk->here))
		return 0;
	below += strcmp(walk->here, "/") == 0 ? 1 : strlen(walk->here);
	below += strspn(below, "/");
	length = strlen(below);
	if (strncmp(walk->rest, below, length) != 0 ||
	    (walk->rest[length] && walk->rest[length] != '/'))
		return 0;
	if (world->elsewhere)
		return stop(walk);
	memmove(walk->rest, walk->rest + length, strlen(walk->rest + length) + 1);
	skip_slashes(walk);
	if (identity_assume(&world->job) < 0)
		return -1;
	walk->inside = true;
	return stand(walk, fcntl(world->root_fd, F_DUPFD_CLOEXEC, 3), world->root);
}

/* "..": by text, since here is canonical; from the top again. */
static int
walk_up(struct walk *walk)
{
	char parent[LIMIT_PATH];
	char *slash;

	memcpy(parent, walk->here, sizeof(parent));
	slash = strrchr(parent, '/');
	*slash = '\0';
	if (parent[0] && push(walk, parent + 1) < 0)
		return -1;
	return stand_at_top(walk);
}

static int
follow(struct walk *walk, int link)
{
	char text[LIMIT_PATH];
	ssize_t length = readlinkat(link, "", text, sizeof(text) - 1);

	close(link);
	if (length <= 0)
		return length < 0 ? -1 : fail(ENOENT);
	if (++walk->links > RESOLVE_LINKS)
		return fail(ELOOP);
	text[length] = '\0';
	if (push(walk, text) < 0)
		return -1;
	return text[0] == '/' ? stand_at_top(walk) : 0;
}

/* The last component of all: here lies the target. */
static int
arrive(struct walk *walk, int fd, const char *name, const char *path)
{
	struct resolved *result = walk->result;

	result->fd = fd;
	if (!text_copy(result->target, sizeof(result->target), path) ||
	    !text_copy(result->last, sizeof(result->last), name))
		return fail(ENAMETOOLONG);
	result->directory = walk->here_fd;
	walk->here_fd = -1;
	result->inside = walk->inside;
	result->firm = walk->firm && !walk->inside && is_firm(walk, &result->stat);
	return 0;
}

static int
step(struct walk *walk, const char *name)
{
	struct resolved *result = walk->result;
	bool last = walk->rest[0] == '\0';
	char path[LIMIT_PATH];
	int child;

	if (!text_format(path, sizeof(path), "%s/%s", strcmp(walk->here, "/") == 0 ?
	    "" : walk->here, name))
		return fail(ENAMETOOLONG);
	child = open_component(walk, name);
	if (child < 0)
		return -1;
	if (last && !result->named[0])
		memcpy(result->named, path, sizeof(path));
	if (fstat(child, &result->stat) < 0) {
		close(child);
		return -1;
	}
	if (S_ISLNK(result->stat.st_mode))
		return follow(walk, child);
	if (last)
		return arrive(walk, child, name, path);
	if (!S_ISDIR(result->stat.st_mode)) {
		close(child);
		return fail(ENOTDIR);
	}
	return stand_on(walk, child, path, &result->stat);
}

/* One component; 1 when there is more to do. */
static int
advance(struct walk *walk)
{
	char name[RESOLVE_NAME];
	size_t length;

	skip_slashes(walk); /* an absolute link was put in front */
	if (enter_root(walk) < 0)
		return -1;
	length = strcspn(walk->rest, "/");
	if (length == 0)
		return fail(EISDIR);
	if (length >= sizeof(name))
		return fail(ENAMETOOLONG);
	if (++walk->steps > RESOLVE_STEPS)
		return fail(ELOOP);
	memcpy(name, walk->rest, length);
	name[length] = '\0';
	memmove(walk->rest, walk->rest + length, strlen(walk->rest + length) + 1);
	skip_slashes(walk);
	if (strcmp(name, ".") == 0)
		return 1;
	if (strcmp(name, "..") == 0)
		return walk_up(walk) < 0 ? -1 : 1;
	if (step(walk, name) < 0)
		return -1;
	return walk->result->fd < 0;
}

/* Field by field: the paths of both are 20 KB, which after each fork are pages to be copied first. */
static void
begin(struct walk *walk, const struct resolve_world *world, struct resolved *resolved)
{
	resolved->fd = resolved->directory = -1;
	resolved->named[0] = resolved->target[0] = resolved->last[0] = '\0';
	resolved->inside = resolved->firm = false;
	walk->world = world;
	walk->result = resolved;
	walk->here_fd = -1;
	walk->here[0] = '\0';
	walk->links = walk->steps = 0;
	walk->inside = false;
	walk->firm = true;
}

int
resolve_path(const struct resolve_world *world, const char *path, struct resolved *resolved)
{
	static struct walk walk; /* large; one walk at a time */
	int more, saved;

	begin(&walk, world, resolved);
	if (path[0] != '/' || path[strlen(path) - 1] == '/')
		return fail(EINVAL);
	if (!text_copy(walk.rest, sizeof(walk.rest), path))
		return fail(ENAMETOOLONG);
	skip_slashes(&walk);
	more = stand_at_top(&walk) < 0 ? -1 : 1;
	while (more > 0)
		more = advance(&walk);
	saved = errno;
	if (walk.inside)
		identity_resume();
	if (walk.here_fd >= 0)
		close(walk.here_fd);
	if (more < 0)
		resolve_close(resolved);
	errno = saved;
	return more;
}

int
resolve_open(const struct resolve_world *world, const struct resolved *resolved)
{
	struct stat stat;
	int fd, saved;

	if (resolved->inside && identity_assume(&world->job) < 0)
		return -1;
	fd = openat(resolved->directory, resolved->last, O_RDONLY | O_NOFOLLOW | O_NONBLOCK |
	    O_NOCTTY | O_CLOEXEC);
	saved = errno;
	if (resolved->inside)
		identity_resume();
	if (fd < 0)
		return fail(saved);
	if (fstat(fd, &stat) < 0 || stat.st_dev != resolved->stat.st_dev ||
	    stat.st_ino != resolved->stat.st_ino) {
		close(fd);
		return fail(ESTALE);
	}
	return fd;
}

bool
resolve_may_execute(const struct resolve_world *world, const struct resolved *resolved)
{
	bool may;

	if (resolved->inside && identity_assume(&world->job) < 0)
		return false;
	may = faccessat(resolved->directory, resolved->last, X_OK, AT_EACCESS |
	    AT_SYMLINK_NOFOLLOW) == 0;
	if (resolved->inside)
		identity_resume();
	return may;
}

void
resolve_close(struct resolved *resolved)
{
	if (resolved->fd >= 0)
		close(resolved->fd);
	if (resolved->directory >= 0)
		close(resolved->directory);
	resolved->fd = resolved->directory = -1;
}
