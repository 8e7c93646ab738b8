/* The policy's roots: canonical, with their owners, apart from the state. */
#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "box.h"
#include "launch.h"
#include "mounted.h"
#include "refuse.h"
#include "scope.h"
#include "text.h"

/*
 * A job that could write the state, the log or the sockets would decide for us;
 * a root inside the state would be one that nobody can see.
 */
static void
keep_apart(const struct boot_root *root, const char *path, const char *what)
{
	const char *kind = root->flags & ROOT_EXTRA ? "the policy's path" : "the allowed root";

	if (text_path_within(path, root->path))
		refuse_start("invalid_input", "%s %s lies inside %s %s: give --state a folder outside of it",
		    what, path, kind, root->path);
	if (text_path_within(root->path, path))
		refuse_start("invalid_input", "%s %s lies inside %s %s", kind, root->path, what, path);
}

/*
 * Open a root by its canonical path, or a place beside the roots, which has no link on its way;
 * -1 with errno.
 */
static int
open_place(struct boot_root *root)
{
	struct open_how how = { .flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS };
	char real[LIMIT_PATH];

	if (root->flags & ROOT_EXTRA)
		return (int)syscall(SYS_openat2, AT_FDCWD, root->path, &how, sizeof(how));
	if (!realpath(root->path, real) || !text_copy(root->path, sizeof(root->path), real))
		return -1;
	return open(real, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Only files and directories can be shown: a socket would be a door, a device needs no path. */
static bool
is_file_or_directory(struct launch *launch, const struct boot_root *root, const struct stat *st)
{
	if (S_ISDIR(st->st_mode) || S_ISREG(st->st_mode))
		return true;
	warn(launch, "%s is left out: it is no file and no directory", root->path);
	return false;
}

/* May everybody walk to it?  Then showing it gives away nothing that was closed. */
static bool
everybody_may_walk(const char *path)
{
	char parent[LIMIT_PATH];
	struct stat st;

	text_copy(parent, sizeof(parent), path);
	for (char *slash = strrchr(parent, '/'); slash; slash = strrchr(parent, '/')) {
		slash[slash == parent] = '\0';
		if (lstat(parent, &st) < 0 || !(st.st_mode & S_IXOTH))
			return false;
		if (slash == parent)
			return true;
	}
	return false;
}

/*
 * A job sees it with the permissions that it has, but it need not walk there: who wrote the policy
 * may show what is its own, or what is open anyway.
 */
static bool
may_be_shown(struct launch *launch, const struct boot_root *root)
{
	if (!launch->root || launch->policy_owner == 0 || launch->policy_owner == root->uid ||
	    everybody_may_walk(root->path))
		return true;
	warn(launch, "%s is left out: the policy belongs to uid %u, which cannot show what lies in a closed"
	    " directory of somebody else", root->path, launch->policy_owner);
	return false;
}

/*
 * Started by root: may jobs run there as its owner?  The directory's group becomes theirs too, which need not be one
 * that its owner is in (a folder that gives its group to what is made in it): so that is root's word alone.
 */
static bool
may_run_as_owner(struct launch *launch, const struct boot_root *root, int fd)
{
	const char *fault = uids_owner_fault(root->uid, root->gid), *odd;
	char type[LIMIT_PATH];

	if (launch->policy_owner != 0) {
		warn(launch, "%s is left out: only a policy that belongs to root can say \"run_as\": \"owner\", and"
		    " this one belongs to uid %u", root->path, launch->policy_owner);
		return false;
	}
	if (fault) {
		warn(launch, "%s is left out: with \"run_as\": \"owner\" its jobs would run as uid %u, gid %u: %s",
		    root->path, root->uid, root->gid, fault);
		return false;
	}
	odd = mounted_odd_type(root, fd, type);
	if (odd)
		warn(launch, "%s is left out: with \"run_as\": \"owner\" its jobs would see all of its filesystem, and"
		    " of those that are mounted below: one is of type %s, which is not for jobs", root->path, odd);
	return !odd;
}

/* Started by root: can it be shown to jobs as theirs?  If not, say why. */
static bool
may_be_mounted(struct launch *launch, const struct boot_root *root, int fd)
{
	bool as_owner = root->flags & ROOT_RUN_AS_OWNER;

	if (as_owner && !may_run_as_owner(launch, root, fd))
		return false;
	if (box_try_root(launch, root, fd) == 0)
		return true;
	if (as_owner)
		warn(launch, "%s is left out: it cannot be mounted: %s", root->path, strerror(errno));
	else
		warn(launch, "%s is left out: its filesystem, or one that is mounted below, cannot be mounted with"
		    " another owner: %s; it can serve where uid %u starts agent-safe itself, or on ext4, xfs, btrfs,"
		    " tmpfs, or where root's policy (version 2) says \"run_as\": \"owner\" at it: then its jobs run"
		    " as uid %u (agent-safe-policy(5) says what that costs)", root->path, strerror(errno), root->uid,
		    root->uid);
	return false;
}

/* Can jobs run there?  If not, say why. */
static bool
root_serves(struct launch *launch, struct boot_root *root, int fd)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0) {
		warn(launch, "%s is left out: %s", root->path, strerror(errno));
		return false;
	}
	root->uid = st.st_uid;
	root->gid = st.st_gid;
	if (root->flags & ROOT_EXTRA && !is_file_or_directory(launch, root, &st))
		return false;
	if (root->flags & ROOT_EXTRA_READ)
		return may_be_shown(launch, root);
	if (root->uid == 0 && !(root->flags & ROOT_ROOT_OWNED)) {
		warn(launch, "%s is left out: it belongs to root; a version 2 policy can allow that with"
		    " \"root_owned\": true, or change its owner", root->path);
		return false;
	}
	if (launch->root && launch->policy_owner != 0 && launch->policy_owner != root->uid) {
		warn(launch, "%s is left out: the policy belongs to uid %u, which cannot give away what"
		    " belongs to uid %u", root->path, launch->policy_owner, root->uid);
		return false;
	}
	return !launch->root || may_be_mounted(launch, root, fd);
}

void
roots_open(struct launch *launch)
{
	struct boot *boot = &launch->boot;
	unsigned kept = 0;

	for (unsigned i = 0; i < boot->root_count; i++) {
		struct boot_root root = boot->roots[i];
		int fd = open_place(&root);

		if (fd >= 0) {
			keep_apart(&root, launch->place.state, "the state folder");
			keep_apart(&root, launch->place.runtime, "the sockets' folder");
		}
		if (!root_serves(launch, &root, fd)) {
			scope_close(&fd);
			continue;
		}
		boot->roots[kept] = root;
		launch->root_fds[kept++] = fd;
	}
	boot->root_count = kept;
}
