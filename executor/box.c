/* Where the roots are attached and the cages prepared. */
#include <sys/mount.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "run_as.h"
#include "scope.h"
#include "text.h"

#include "box.h"
#include "mounts.h"

static void
write_file(const char *path, const char *text)
{
	scoped_close int fd = open(path, O_WRONLY | O_CLOEXEC);
	size_t length = strlen(text);

	if (fd < 0 || write(fd, text, length) != (ssize_t)length)
		fatal("%s: %s", path, strerror(errno));
}

static void
map_one(const char *path, unsigned id)
{
	char line[64];

	if (!text_format(line, sizeof(line), "%u %u 1", id, id))
		fatal("id map");
	write_file(path, line);
}

/* A job cannot make user namespaces: its filter forbids it, and so does this number. */
static void
enter_namespaces(enum network network)
{
	unsigned uid = geteuid(), gid = getegid();
	int own = network == NETWORK_TCP_PORTS ? 0 : CLONE_NEWNET; /* jobs stay where we are */

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | own) < 0)
		fatal("namespaces of our own (user, mount, ipc, uts, net): %s (see `agent-safe doctor`)",
		    strerror(errno));
	write_file("/proc/self/setgroups", "deny");
	map_one("/proc/self/uid_map", uid);
	map_one("/proc/self/gid_map", gid);
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		fatal("private mounts: %s", strerror(errno));
	write_file("/proc/sys/user/max_user_namespaces", "0");
}

static void
make_directory(const char *format, const char *box, unsigned number)
{
	char path[LIMIT_PATH];

	if (!text_format(path, sizeof(path), format, box, number))
		fatal("box: path too long");
	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		fatal("%s: %s", path, strerror(errno));
}

/* What lies beside the roots has no link on its way. */
static int
copy_root(const struct boot_root *root)
{
	scoped_close int fd = -1;

	if (!(root->flags & ROOT_EXTRA))
		return mounts_copy(AT_FDCWD, root->path, MOUNTS_TREE);
	fd = mounts_open(AT_FDCWD, root->path);
	return fd < 0 ? -1 : mounts_copy(fd, "", root->flags & ROOT_EXTRA_READ ?
	    MOUNTS_SYSTEM : MOUNTS_TREE);
}

/* A directory, or for a single file an empty one. */
static void
make_point(const char *path, int tree)
{
	scoped_close int fd = -1;
	struct stat seen;

	if (fstat(tree, &seen) < 0)
		fatal("%s: %s", path, strerror(errno));
	if (S_ISDIR(seen.st_mode)) {
		make_directory("%s", path, 0);
		return;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		fatal("%s: %s", path, strerror(errno));
}

static void
attach_root(const struct boot *boot, unsigned root)
{
	int tree = copy_root(&boot->roots[root]);
	char path[LIMIT_PATH];

	if (tree < 0 || !box_root(boot, 0, root, path))
		fatal("attach %s: %s", boot->roots[root].path, strerror(errno));
	make_point(path, tree);
	if (mounts_attach(tree, AT_FDCWD, path) < 0)
		fatal("attach %s: %s", boot->roots[root].path, strerror(errno));
}

void
box_make(const struct boot *boot)
{
	umask(0);
	enter_namespaces(boot->network);
	if (mount("tmpfs", boot->box_dir, "tmpfs", MS_NOSUID | MS_NODEV,
	    "mode=755,size=1g,nr_inodes=16384") < 0)
		fatal("box %s: %s", boot->box_dir, strerror(errno));
	make_directory("%s/idm", boot->box_dir, 0);
	make_directory("%s/idm/%u", boot->box_dir, 0);
	make_directory("%s/own", boot->box_dir, 0);
	for (unsigned root = 0; root < boot->root_count; root++)
		attach_root(boot, root);
	umask(077);
}

void
box_prepare(const struct boot *boot)
{
	umask(0);
	make_directory("%s/own/root", boot->box_dir, 0);
	make_directory("%s/own/slot", boot->box_dir, 0);
	make_directory("%s/own/copy", boot->box_dir, 0);
	for (unsigned slot = 0; slot < boot->slot_count; slot++)
		make_directory("%s/own/slot/%u", boot->box_dir, slot);
	make_directory("%s/own/owner", boot->box_dir, 0);
	for (unsigned root = 0; root < boot->root_count; root++)
		if (run_as_owner(boot, &boot->roots[root]))
			make_directory("%s/own/owner/%u", boot->box_dir, root);
	umask(077);
}

bool
box_root(const struct boot *boot, unsigned slot, unsigned root, char path[LIMIT_PATH])
{
	bool shared = boot->mode == MODE_WORKSPACE_USER ||
	    boot->roots[root].flags & (ROOT_EXTRA_READ | ROOT_RUN_AS_OWNER);
	unsigned owner = shared ? 0 : slot;

	return text_format(path, LIMIT_PATH, "%s/idm/%u/%u", boot->box_dir, owner, root);
}

bool
box_template(const struct boot *boot, char path[LIMIT_PATH])
{
	return text_format(path, LIMIT_PATH, "%s/own/root", boot->box_dir);
}

bool
box_slot_file(const struct boot *boot, unsigned slot, const char *name, char path[LIMIT_PATH])
{
	return text_format(path, LIMIT_PATH, "%s/own/slot/%u/%s", boot->box_dir, slot, name);
}

bool
box_owner_file(const struct boot *boot, unsigned root, const char *name, char path[LIMIT_PATH])
{
	return text_format(path, LIMIT_PATH, "%s/own/owner/%u/%s", boot->box_dir, root, name);
}

bool
box_copy(const struct boot *boot, const char *run, const char *name, char path[LIMIT_PATH])
{
	return text_format(path, LIMIT_PATH, name[0] ? "%s/own/copy/%s/%s" : "%s/own/copy/%s%s",
	    boot->box_dir, run, name);
}
