/* The mounts of one job. */
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "plan.h"
#include "run.h"
#include "run_as.h"
#include "scope.h"
#include "text.h"

#include "box.h"
#include "cage.h"
#include "masks.h"
#include "mounts.h"
#include "names.h"
#include "protect.h"
#include "template.h"

#define TMP_INODES 65536
#define ODD_OPTIONS "mode=755,size=64k,nr_inodes=64"

#define NETWORK_NAMESPACE 2 /* its place in: */
#define NAMESPACES_FOLDER "/proc/self/ns"

static const char *const namespaces[CAGE_NAMESPACES] = { "pid", "mnt", "net", "ipc", "uts", "cgroup" };

void
cage_note_outside(ino_t outside[CAGE_NAMESPACES])
{
	scoped_close int folder = open(NAMESPACES_FOLDER, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat seen;

	for (unsigned i = 0; i < CAGE_NAMESPACES; i++) {
		if (folder < 0 || fstatat(folder, namespaces[i], &seen, 0) < 0)
			fatal(NAMESPACES_FOLDER "/%s: %s", namespaces[i], strerror(errno));
		outside[i] = seen.st_ino;
	}
}

int
cage_check_namespaces(const ino_t outside[CAGE_NAMESPACES], enum network network)
{
	scoped_close int folder = open(NAMESPACES_FOLDER, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat seen;

	for (unsigned i = 0; i < CAGE_NAMESPACES; i++) {
		if (folder < 0 || fstatat(folder, namespaces[i], &seen, 0) < 0)
			return -1;
		if ((seen.st_ino == outside[i]) !=
		    (i == NETWORK_NAMESPACE && network == NETWORK_TCP_PORTS)) {
			errno = EPERM;
			return -1;
		}
	}
	return 0;
}

const char *
cage_exec_path(const struct program *program)
{
	return program->kind == PROGRAM_PINNED && template_shows(program->named) ?
	    program->named : program->target;
}

/* passwd or group: what the job's own ids are called. */
static int
take_names(const struct cage *cage, const char *name)
{
	bool owner = run_as_owner(cage->boot, &cage->boot->roots[cage->root]);
	char path[LIMIT_PATH];

	if (owner ? box_owner_file(cage->boot, cage->root, name, path) :
	    box_slot_file(cage->boot, cage->slot, name, path))
		return mounts_copy(AT_FDCWD, path, MOUNTS_SYSTEM | MOUNTS_NO_EXEC);
	errno = ENAMETOOLONG;
	return -1;
}

static int
take_program(const struct cage *cage, struct cage_file *file, const struct program *program,
    const char *copy)
{
	char path[LIMIT_PATH];
	struct stat seen;

	file->program = program;
	file->wanted = program->kind != 0;
	file->copied = program->kind == PROGRAM_COPIED;
	file->dev = (dev_t)program->dev;
	file->ino = (ino_t)program->ino;
	file->tree = -1;
	if (!file->copied)
		return 0;
	if (!box_copy(cage->boot, cage->run, copy, path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	file->tree = mounts_copy(AT_FDCWD, path, MOUNTS_SYSTEM);
	if (file->tree < 0 || fstat(file->tree, &seen) < 0)
		return -1;
	file->dev = seen.st_dev;
	file->ino = seen.st_ino;
	return 0;
}

int
cage_take_trees(struct cage *cage)
{
	if (places_take(&cage->places, cage->boot, cage->slot, cage->job.uid) < 0)
		return -1;
	cage->passwd = take_names(cage, "passwd");
	cage->group = take_names(cage, "group");
	if (cage->passwd < 0 || cage->group < 0)
		return -1;
	if (take_program(cage, &cage->program, &cage->plan->program, "program") < 0)
		return -1;
	return take_program(cage, &cage->interpreter, &cage->plan->interpreter, "interpreter");
}

/* One bounded tmpfs for /tmp and /dev/shm together. */
static int
mount_tmp(const struct cage *cage)
{
	char options[96];

	if (!text_format(options, sizeof(options), "mode=755,size=%llu,nr_inodes=%u",
	    (unsigned long long)cage->plan->tmp_bytes, TMP_INODES)) {
		errno = EINVAL;
		return -1;
	}
	if (mount("tmpfs", "tmp", "tmpfs", MS_NOSUID | MS_NODEV, options) < 0)
		return -1;
	if (mkdir("tmp/tmp", 01777) < 0 || mkdir("tmp/shm", 01777) < 0)
		return -1;
	if (mounts_show(AT_FDCWD, "tmp/shm", AT_FDCWD, "dev/shm", MOUNTS_TREE | MOUNTS_NO_EXEC) < 0)
		return -1;
	return mounts_show(AT_FDCWD, "tmp/tmp", AT_FDCWD, "tmp", MOUNTS_TREE);
}

/* A terminal of its own, for programs that make one. */
static int
mount_terminals(void)
{
	return mount("devpts", "dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
	    "newinstance,ptmxmode=0666,mode=0620");
}

/* "/opt/x/tool" -> "opt"; false when no place of its own is needed for this file. */
static bool
odd_place(const struct cage *cage, const struct cage_file *file, char top[256])
{
	const char *path = file->program ? file->program->target : "";
	size_t length;

	if (!file->wanted || !file->copied || places_hold(&cage->places, path) ||
	    template_shows(path) || text_path_within(path, "/tmp"))
		return false;
	length = strcspn(path + 1, "/");
	if (length >= 256)
		return false;
	memcpy(top, path + 1, length);
	top[length] = '\0';
	return true;
}

/*
 * A copied program from outside of all trees gets a small tmpfs under its first directory, to lie
 * in.
 */
static int
mount_odd_places(const struct cage *cage, char tops[2][256])
{
	bool first = odd_place(cage, &cage->program, tops[0]);
	bool second = odd_place(cage, &cage->interpreter, tops[1]);

	if (!first)
		tops[0][0] = '\0';
	if (!second || (first && strcmp(tops[0], tops[1]) == 0))
		tops[1][0] = '\0';
	for (unsigned i = 0; i < 2; i++)
		if (tops[i][0] &&
		    mount("tmpfs", tops[i], "tmpfs", MS_NOSUID | MS_NODEV, ODD_OPTIONS) < 0)
			return -1;
	return 0;
}

static int
attach_program(const struct cage_file *file)
{
	scoped_close int place = -1;

	if (!file->copied)
		return 0;
	place = mounts_open(AT_FDCWD, file->program->target + 1);
	return place < 0 ? -1 : mounts_attach_to(file->tree, place);
}

/* In the workspace and in system trees a copied file's place is there already. */
static int
make_place(const struct cage *cage, const struct cage_file *file)
{
	if (!file->copied || places_hold(&cage->places, file->program->target))
		return 0;
	return mounts_point(AT_FDCWD, file->program->target, 1);
}

/* Below a root only its owner, which here is the job, may be allowed to walk. */
static int
mount_in_workspace(const struct cage *cage)
{
	int done, saved;

	if (identity_assume(&cage->job) < 0)
		return -1;
	done = places_cover_policy(&cage->places, cage->boot->policy_path);
	for (unsigned i = 0; done == 0 && i < cage->protect_count; i++)
		done = protect_cover(&cage->protect[i]);
	if (done == 0)
		done = nested_cover(cage->nested);
	if (done == 0)
		done = attach_program(&cage->program);
	if (done == 0)
		done = attach_program(&cage->interpreter);
	saved = errno;
	identity_resume();
	errno = saved;
	return done;
}

static int
mount_files(struct cage *cage)
{
	char tops[2][256];

	if (mount_tmp(cage) < 0 || mount_terminals() < 0 || mount_odd_places(cage, tops) < 0)
		return -1;
	if (mounts_attach(cage->passwd, AT_FDCWD, "etc/passwd") < 0 ||
	    mounts_attach(cage->group, AT_FDCWD, "etc/group") < 0)
		return -1;
	if (names_are_wanted(&cage->plan->ports) && names_mount() < 0)
		return -1;
	if (places_mount(&cage->places, &cage->job) < 0)
		return -1;
	if (make_place(cage, &cage->program) < 0 || make_place(cage, &cage->interpreter) < 0 ||
	    mount_in_workspace(cage) < 0)
		return -1;
	for (unsigned i = 0; i < 2; i++)
		if (tops[i][0] && mounts_set(AT_FDCWD, tops[i], MOUNTS_READ_ONLY) < 0)
			return -1;
	return 0;
}

/* Is this path the root that we made? */
static bool
is_root(const struct stat *root, const char *path)
{
	struct stat seen;

	return stat(path, &seen) == 0 && seen.st_dev == root->st_dev && seen.st_ino == root->st_ino;
}

/* The old root lies on the new one for a moment: as long as it does, "/.." leads to it. */
static int
change_root(void)
{
	struct stat root;

	if (stat(".", &root) < 0 || syscall(SYS_pivot_root, ".", ".") < 0 || umount2(".", MNT_DETACH) < 0 ||
	    chdir("/") < 0)
		return -1;
	if (is_root(&root, "/") && is_root(&root, "/..") && is_root(&root, "."))
		return 0;
	errno = EPERM;
	return -1;
}

int
cage_mount(struct cage *cage, uint32_t *stage)
{
	*stage = STAGE_PROC;
	if (masks_mount_proc(profile_row(cage->plan->profile)->proc) < 0)
		return -1;
	*stage = STAGE_MOUNT;
	return mount_files(cage) < 0 ? -1 : change_root();
}
