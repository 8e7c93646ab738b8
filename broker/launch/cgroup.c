/* The cgroup of a trio. */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cgroup.h"
#include "log.h"
#include "manager.h"
#include "mounted.h"
#include "refuse.h"
#include "run.h"
#include "scope.h"
#include "text.h"

static const struct {
	const char *name, *enable;
	uint64_t layer;
} controllers[] = {
	{ "memory", "+memory", LAYER_CGROUP_MEMORY },
	{ "pids", "+pids", LAYER_CGROUP_PIDS },
	{ "cpu", "+cpu", LAYER_CGROUP_CPU },
};

#define CONTROLLERS (sizeof(controllers) / sizeof(controllers[0]))

/* Kept until launch ends: refuse_undo_cgroup() keeps pointers to them. */
static char delegated[LIMIT_PATH], daemons[LIMIT_PATH], jobs[LIMIT_PATH];
static bool of_manager; /* it takes away what is empty, nothing needs to be undone */

/* A line of mountinfo (proc(5)): id, parent, device, root, mount point, ..., " - ", type. */
static bool
read_mount(char *line, char **root, char **point)
{
	char *type = strstr(line, " - cgroup2 "), *at = line, *field = NULL;

	if (!type)
		return false;
	for (int i = 0; i < 5; i++) {
		field = strsep(&at, " ");
		if (!field)
			return false;
		if (i == 3)
			*root = field;
	}
	*point = field;
	mounted_unescape(*root);
	mounted_unescape(*point);
	return true;
}

/* Where cgroup2 is mounted, also beside version 1, and which cgroup is the root of that mount. */
static bool
find_mount(char root[LIMIT_PATH], char point[LIMIT_PATH])
{
	scoped_file FILE *file = fopen("/proc/self/mountinfo", "re");
	char line[3 * LIMIT_PATH], *line_root, *line_point;

	while (file && fgets(line, sizeof(line), file))
		if (read_mount(line, &line_root, &line_point))
			return text_copy(root, LIMIT_PATH, line_root) && text_copy(point, LIMIT_PATH, line_point);
	return false;
}

/* Our own cgroup: the line "0::/path". */
static bool
find_own_path(char path[LIMIT_PATH])
{
	scoped_file FILE *file = fopen("/proc/self/cgroup", "re");
	char line[LIMIT_PATH + 8];

	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "0::/", 4) == 0)
			return text_copy(path, LIMIT_PATH, line + 3);
	}
	return false;
}

/* Our own cgroup as a folder. */
static bool
find_own_folder(char folder[LIMIT_PATH])
{
	char root[LIMIT_PATH], point[LIMIT_PATH], path[LIMIT_PATH];
	const char *below = path;

	if (!find_mount(root, point) || !find_own_path(path))
		return false;
	if (root[1] && text_path_within(path, root))
		below = path + strlen(root);
	return text_format(folder, LIMIT_PATH, "%s%s", point, below[0] && below[1] ? below : "");
}

static int
open_in(const char *folder, const char *name, int flags)
{
	char path[LIMIT_PATH];

	if (!text_format(path, sizeof(path), "%s/%s", folder, name))
		return -1;
	return open(path, flags | O_CLOEXEC | O_NOFOLLOW);
}

static bool
write_in(const char *folder, const char *name, const char *text)
{
	scoped_close int fd = open_in(folder, name, O_WRONLY);

	return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

/* Are we alone in this cgroup?  A service manager gave it to us then. */
static bool
holds_only_us(const char *folder)
{
	scoped_close int fd = open_in(folder, "cgroup.procs", O_RDONLY);
	char text[64], own[32];
	ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (length <= 0 || !text_format(own, sizeof(own), "%d\n", (int)getpid()))
		return false;
	text[length] = '\0';
	return strcmp(text, own) == 0;
}

/* Made now, or there from the last time; false when it may not be. */
static bool
make_group(const char *folder)
{
	if (mkdir(folder, 0755) == 0) {
		if (!of_manager)
			refuse_undo_cgroup(folder);
		return true;
	}
	return errno == EEXIST;
}

/* The scope that the manager gave us: our own cgroup, or what that lies in when keepers are there already. */
static bool
cut_to_scope(char own[LIMIT_PATH], const char *unit)
{
	char *end = strstr(own, unit);

	if (end)
		end[strlen(unit)] = '\0';
	return end != NULL;
}

/* The group to divide: one that we were given is used itself, else it is made below our own. */
static bool
make_groups(const struct launch *launch, const char *own, bool given)
{
	if (given ? !text_copy(delegated, sizeof(delegated), own) :
	    !text_format(delegated, sizeof(delegated), "%s/agent-safe-%s", own, launch->place.id))
		return false;
	return text_format(daemons, sizeof(daemons), "%s/daemons", delegated) &&
	    text_format(jobs, sizeof(jobs), "%s/jobs", delegated) &&
	    make_group(delegated) && make_group(daemons) && make_group(jobs);
}

/* First of all: a cgroup with processes in it cannot hand controllers down. */
static bool
move_into_daemons(const char *own)
{
	int former_fd = open_in(own, "cgroup.procs", O_WRONLY);

	if (!write_in(daemons, "cgroup.procs", "0")) {
		scope_close(&former_fd);
		return false;
	}
	if (of_manager)
		scope_close(&former_fd);
	else
		refuse_undo_cgroup_move(former_fd);
	return true;
}

/* Which controllers reach a job's cgroup, as layers.  Some hosts give none, or forbid some. */
static uint64_t
enable_controllers(const char *own)
{
	const char *const folders[] = { own, delegated, jobs };
	scoped_close int fd = -1;
	uint64_t layers = 0;
	char text[256];
	ssize_t length;

	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < CONTROLLERS; k++)
			if (!write_in(folders[i], "cgroup.subtree_control", controllers[k].enable))
				continue; /* what came of it is read below */
	fd = open_in(jobs, "cgroup.subtree_control", O_RDONLY);
	length = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	text[length > 0 ? length : 0] = '\0';
	for (char *at = text, *name; (name = strsep(&at, " \n"));)
		for (size_t k = 0; k < CONTROLLERS; k++)
			if (strcmp(name, controllers[k].name) == 0)
				layers |= controllers[k].layer;
	return layers;
}

/* For a process to enter jobs/<run>, the kernel wants write on both cgroup.procs and their ancestor's. */
static bool
give_to_executor(const struct launch *launch)
{
	static const char *const files[][2] = {
		{ jobs, "" }, { jobs, "/cgroup.procs" }, { delegated, "/cgroup.procs" },
	};
	char path[LIMIT_PATH];

	for (size_t i = 0; launch->root && i < sizeof(files) / sizeof(files[0]); i++)
		if (!text_format(path, sizeof(path), "%s%s", files[i][0], files[i][1]) ||
		    lchown(path, launch->executor.uid, launch->executor.gid) < 0)
			return false;
	return true;
}

static bool
open_groups(struct launch *launch)
{
	char own[LIMIT_PATH], unit[MANAGER_UNIT_BYTES];
	bool given;

	of_manager = manager_find(launch, unit) && manager_enter_scope(launch, unit);
	errno = ENOENT;
	if (!find_own_folder(own) || (of_manager && !cut_to_scope(own, unit)))
		return false;
	given = of_manager || (launch->place.mode == MODE_SYSTEM && holds_only_us(own));
	if (!make_groups(launch, own, given) || !move_into_daemons(own))
		return false;
	launch->boot.layers |= LAYER_CGROUP | enable_controllers(own);
	if (!give_to_executor(launch))
		return false;
	launch->jobs_fd = open(jobs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return launch->jobs_fd >= 0;
}

/* What is empty again and of no use; a group that still holds a keeper stays. */
static void
remove_groups(void)
{
	rmdir(jobs);
	rmdir(daemons);
	if (strstr(delegated, "/agent-safe-"))
		rmdir(delegated);
}

void
cgroup_open(struct launch *launch)
{
	const uint64_t ours = LAYER_CGROUP | LAYER_CGROUP_MEMORY | LAYER_CGROUP_PIDS | LAYER_CGROUP_CPU;

	if (open_groups(launch))
		return;
	log_warn("jobs run without a cgroup of their own: %s", strerror(errno));
	remove_groups();
	launch->boot.layers &= ~ours;
	launch->jobs_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (launch->jobs_fd < 0)
		refuse_start("internal_error", "/dev/null: %s", strerror(errno));
}
