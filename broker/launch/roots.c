/* The policy's roots: canonical, with their owners, apart from the state. */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "box.h"
#include "launch.h"
#include "log.h"
#include "refuse.h"
#include "scope.h"
#include "text.h"

/*
 * A job that could write the state, the log or the sockets would decide for us;
 * a root inside the state would be one that nobody can see.
 */
static void
keep_apart(const char *root, const char *path, const char *what)
{
	if (text_path_within(path, root))
		refuse_start("invalid_input", "%s %s lies inside the allowed root %s: give --state a folder"
		    " outside of it", what, path, root);
	if (text_path_within(root, path))
		refuse_start("invalid_input", "the allowed root %s lies inside %s %s", root, what, path);
}

/* Open a root by its canonical path; -1 with errno. */
static int
open_root(struct boot_root *root)
{
	char real[LIMIT_PATH];

	if (!realpath(root->path, real) || !text_copy(root->path, sizeof(root->path), real))
		return -1;
	return open(real, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Can jobs run there?  If not, say why. */
static bool
root_serves(const struct launch *launch, struct boot_root *root, int fd)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0) {
		log_warn("root %s is left out: %s", root->path, strerror(errno));
		return false;
	}
	root->uid = st.st_uid;
	root->gid = st.st_gid;
	if (root->uid == 0 && !(root->flags & ROOT_ROOT_OWNED)) {
		log_warn("root %s is left out: it belongs to root; a version 2 policy can allow that with"
		    " \"root_owned\": true, or change its owner", root->path);
		return false;
	}
	if (launch->root && launch->policy_owner != 0 && launch->policy_owner != root->uid) {
		log_warn("root %s is left out: the policy belongs to uid %u, which cannot give away what"
		    " belongs to uid %u", root->path, launch->policy_owner, root->uid);
		return false;
	}
	if (launch->root && box_try_root(launch, root, fd) < 0) {
		log_warn("root %s is left out: its filesystem cannot be mounted with another owner: %s",
		    root->path, strerror(errno));
		return false;
	}
	return true;
}

void
roots_open(struct launch *launch)
{
	struct boot *boot = &launch->boot;
	unsigned kept = 0;

	for (unsigned i = 0; i < boot->root_count; i++) {
		struct boot_root root = boot->roots[i];
		int fd = open_root(&root);

		if (fd >= 0) {
			keep_apart(root.path, launch->place.state, "the state folder");
			keep_apart(root.path, launch->place.runtime, "the sockets' folder");
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
