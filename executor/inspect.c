/* Protected paths: what a job has done to them. */
#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <unistd.h>

#include "scope.h"

#include "harmless.h"
#include "protect.h"
#include "quarantine.h"

struct inspection {
	const struct protect *protect;
	bool deep; /* what lies in a new repository is looked at by nested_inspect() */
	struct quarantine put;
};

/* The directory that an item lies in, below `at`, through no link; and the item's last name. */
static int
open_parent(int at, const char *item, const char **last)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS };
	const char *slash = strrchr(item, '/');
	char parent[32];

	*last = slash ? slash + 1 : item;
	if (!slash)
		return fcntl(at, F_DUPFD_CLOEXEC, 3);
	memcpy(parent, item, (size_t)(slash - item));
	parent[slash - item] = '\0';
	return (int)syscall(SYS_openat2, at, parent, &how, sizeof(how));
}

/*
 * same: the directory is the one that was covered.  In another one nothing was, so whatever is
 * there now counts as made.
 */
static void
inspect_item(struct inspection *inspection, int directory, const char *path, unsigned number,
    const struct protect_item *was, bool same)
{
	const char *name = protect_name(number), *last;
	scoped_close int parent = open_parent(directory, name, &last);
	struct stat seen;

	if (was->kind == PROTECT_WITHIN && same)
		return;
	if (parent < 0 || fstatat(parent, last, &seen, AT_SYMLINK_NOFOLLOW) < 0) {
		bool gone = errno == ENOENT || errno == ENOTDIR;

		if (gone && (was->kind == PROTECT_ABSENT || was->kind == PROTECT_WITHIN || !same))
			return;
		quarantine_say(&inspection->put, path, name, gone ? "is gone" : "could not be looked at: ",
		    gone ? "" : strerror(errno));
		inspection->put.violations++;
	} else if (same && was->kind == PROTECT_ABSENT && number == PROTECT_GIT &&
	    harmless_repository(parent, last, inspection->deep)) {
		return; /* what is in it was not there either, and was looked at with it */
	} else if (!same || was->kind == PROTECT_ABSENT ||
	    (was->kind == PROTECT_LINK && seen.st_ino != was->ino)) {
		quarantine_put_away(&inspection->put, parent, path, name, last);
	} else if (seen.st_ino != was->ino) {
		/* The cage's cover fell with it.  Somebody outside did that: theirs is not touched. */
		quarantine_say(&inspection->put, path, name, "was replaced from outside while the job ran", "");
		inspection->put.violations++;
	}
}

static void
inspect_directory(struct inspection *inspection, int root_fd, unsigned index)
{
	const struct protect *protect = inspection->protect;
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS };
	char path[LIMIT_PATH];
	const char *below;
	scoped_close int fd = -1;
	struct stat seen;

	if (!protect_directory(protect, index, path))
		return; /* protect_look() refused it */
	below = index == 0 ? "" : path + strlen(protect->root);
	below += strspn(below, "/");
	fd = (int)syscall(SYS_openat2, root_fd, *below ? below : ".", &how, sizeof(how));
	if (fd < 0 || fstat(fd, &seen) < 0) {
		if (errno == ENOENT)
			return; /* gone with all that was in it */
		quarantine_say(&inspection->put, path, "", "could not be looked into: ", strerror(errno));
		inspection->put.violations++;
		return;
	}
	for (unsigned i = 0; i < PROTECT_NAMES; i++)
		inspect_item(inspection, fd, path, i, &protect->items[index][i],
		    seen.st_ino == protect->inos[index]);
}

unsigned
protect_inspect(const struct protect *protect, int root_fd, bool deep, const struct quarantine *order)
{
	struct inspection inspection = { protect, deep, *order };

	if (identity_assume(order->job) < 0) {
		order->tell(order->context, "the job's files could not be looked at");
		return 1;
	}
	for (unsigned i = 0; i < protect->directories; i++)
		inspect_directory(&inspection, root_fd, i);
	identity_resume();
	return inspection.put.violations;
}
