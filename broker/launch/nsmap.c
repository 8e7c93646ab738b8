/* User namespaces and their maps. */
#include <sys/syscall.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "nsmap.h"
#include "scope.h"
#include "text.h"

#define MAP_BYTES 192 /* four lines of three numbers */

static bool
write_map(pid_t pid, const char *name, const char *map)
{
	char path[64];
	scoped_close int fd = -1;

	if (!text_format(path, sizeof(path), "/proc/%d/%s", (int)pid, name))
		return false;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd >= 0 && write(fd, map, strlen(map)) == (ssize_t)strlen(map);
}

#define NO_ID UINT32_MAX

/* Ids from first to before `end` stay as they are. */
static bool
add_same(char map[MAP_BYTES], uint32_t first, uint32_t end)
{
	size_t length = strlen(map);

	return first >= end ||
	    text_format(map + length, MAP_BYTES - length, "%u %u %u\n", first, first, end - first);
}

/* What is `disk` is seen as `seen`; what would be `seen` is nobody's; all others are who they are. */
static bool
make_map(char map[MAP_BYTES], uint32_t disk, uint32_t seen)
{
	uint32_t low = disk < seen ? disk : seen, high = disk < seen ? seen : disk;

	return text_format(map, MAP_BYTES, "%u %u 1\n", disk, seen) && add_same(map, 0, low) &&
	    add_same(map, low + 1, high) && add_same(map, high + 1, NO_ID);
}

/* The namespace of a child that only waits for its end; -1 with errno. */
static int
open_namespace(pid_t child, struct identity disk, struct identity seen)
{
	char path[64], uid_map[MAP_BYTES], gid_map[MAP_BYTES];

	if (!make_map(uid_map, disk.uid, seen.uid) || !make_map(gid_map, disk.gid, seen.gid) ||
	    !text_format(path, sizeof(path), "/proc/%d/ns/user", (int)child) ||
	    !write_map(child, "uid_map", uid_map) || !write_map(child, "gid_map", gid_map))
		return -1;
	return open(path, O_RDONLY | O_CLOEXEC);
}

int
nsmap_for_mount(struct identity disk, struct identity seen)
{
	scoped_close int read_fd = -1;
	int end[2], fd, error;
	pid_t child;
	char byte;

	if (pipe2(end, O_CLOEXEC) < 0)
		return -1;
	read_fd = end[0];
	child = (pid_t)syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
	if (child == 0) { /* ends when our end of the pipe closes */
		close(end[1]);
		_exit(read(end[0], &byte, 1) == 0 ? 0 : 1);
	}
	if (child < 0) {
		close(end[1]);
		return -1;
	}
	fd = open_namespace(child, disk, seen);
	error = errno;
	close(end[1]);
	waitpid(child, NULL, 0);
	errno = error;
	return fd;
}

/* The kernel takes 340 lines in one write of less than a page; we make 2 + LIMIT_ROOTS of at most 24 bytes. */
#define EXECUTOR_MAP_BYTES 2048
_Static_assert((2 + LIMIT_ROOTS) * 24 < EXECUTOR_MAP_BYTES, "a line for each root's owner");

static bool
add_range(char map[EXECUTOR_MAP_BYTES], uint32_t first, uint32_t count)
{
	size_t length = strlen(map);

	return text_format(map + length, EXECUTOR_MAP_BYTES - length, "%u %u %u\n", first, first, count);
}

/* Each once: two roots may have one owner, and a map with a number twice is refused by the kernel. */
static bool
add_owners(char map[EXECUTOR_MAP_BYTES], const struct boot *boot, bool group)
{
	for (unsigned i = 0; i < boot->root_count; i++) {
		const struct boot_root *root = &boot->roots[i];
		uint32_t id = group ? root->gid : root->uid;
		bool known = false;

		for (unsigned j = 0; j < i; j++)
			known = known || (boot->roots[j].flags & ROOT_RUN_AS_OWNER &&
			    id == (group ? boot->roots[j].gid : boot->roots[j].uid));
		if (root->flags & ROOT_RUN_AS_OWNER && !known && !add_range(map, id, 1))
			return false;
	}
	return true;
}

static bool
write_executor_map(pid_t pid, const struct launch *launch, bool group)
{
	char map[EXECUTOR_MAP_BYTES] = "";

	return add_range(map, group ? launch->executor.gid : launch->executor.uid, 1) &&
	    add_range(map, launch->first_slot_uid, 2 * launch->boot.slot_count) &&
	    add_owners(map, &launch->boot, group) && write_map(pid, group ? "gid_map" : "uid_map", map);
}

bool
nsmap_write_executor(pid_t pid, const struct launch *launch)
{
	return write_executor_map(pid, launch, false) && write_executor_map(pid, launch, true);
}
