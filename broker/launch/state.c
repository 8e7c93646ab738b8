/* The parts of the state folder. */
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "folders.h"
#include "refuse.h"
#include "scope.h"
#include "state.h"
#include "text.h"

#define LOCK_WAIT_MS 15000 /* for another launch: its longest step is the auditor's recovery */
#define LOCK_POLL_MS 50
#define LOG_BYTES (1 << 20) /* of trio.log; then it becomes trio.log.1 */

static bool
trio_answers(const struct launch *launch)
{
	const struct place *place = &launch->place;
	int fd = place_connect(place, launch->root || place->mode == MODE_WORKSPACE_USER ?
	    place->control : place->propose);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

/* An ordinary user before a trio that only root can start. */
static bool
use_trio_of_root(const struct launch *launch)
{
	if (!trio_answers(launch))
		refuse_start("not_permitted", "root has to start the broker of %s, and it does not run",
		    launch->place.state);
	return false;
}

bool
state_lock(struct launch *launch)
{
	const char *path = launch->place.state;
	const struct folder_wish wish = { launch->self, launch->root ? 0711 : 0700 };

	if (!launch->root && launch->place.mode != MODE_WORKSPACE_USER)
		return use_trio_of_root(launch);
	launch->state_fd = folders_make_path(path, &wish);
	launch->lock_fd = folders_open_file(launch->state_fd, path, "lock", O_RDWR, 0600);
	for (int waited = 0; flock(launch->lock_fd, LOCK_EX | LOCK_NB) < 0; waited += LOCK_POLL_MS) {
		if (errno != EWOULDBLOCK)
			refuse_start("internal_error", "%s/lock: %s", path, strerror(errno));
		if (trio_answers(launch))
			return false;
		if (waited >= LOCK_WAIT_MS)
			refuse_start("internal_error", "%s/lock is held by a process that does not answer", path);
		poll(NULL, 0, LOCK_POLL_MS);
	}
	return true;
}

/* The daemons' standard error: trio.log, begun anew when it has grown; or our own. */
static int
open_log(struct launch *launch)
{
	const char *path = launch->place.state;
	struct stat st;
	int fd;

	if (launch->keep_stderr || launch->place.mode == MODE_SYSTEM)
		return STDERR_FILENO;
	fd = folders_open_file(launch->state_fd, path, "trio.log", O_WRONLY | O_APPEND, 0600);
	if (fstat(fd, &st) == 0 && st.st_size > LOG_BYTES) {
		close(fd);
		if (renameat(launch->state_fd, "trio.log", launch->state_fd, "trio.log.1") < 0)
			refuse_start("internal_error", "%s/trio.log: %s", path, strerror(errno));
		fd = folders_open_file(launch->state_fd, path, "trio.log", O_WRONLY | O_APPEND, 0600);
	}
	launch->log_start = lseek(fd, 0, SEEK_END);
	return fd;
}

static void
open_audit(struct launch *launch)
{
	const struct folder_wish wish = { launch->auditor, 0700 };
	const char *path = launch->place.audit;
	scoped_close int fd = folders_make(launch->state_fd, launch->place.state, "audit", &wish);

	launch->audit_log_fd = folders_make(fd, path, "log", &wish);
	launch->audit_key_fd = folders_make(fd, path, "key", &wish);
}

/*
 * Root: the box is a tmpfs that only the executor's mount namespace has, over a
 * folder that every uid can reach (the state may lie in a closed one).
 */
static void
open_box(struct launch *launch)
{
	const struct folder_wish wish = { launch->self, launch->root ? 0755 : 0700 };
	scoped_close int fd = -1;

	if (launch->root) {
		fd = folders_make_path(PLACE_SYSTEM_RUNTIME, &wish);
		text_copy(launch->boot.box_dir, LIMIT_PATH, PLACE_SYSTEM_RUNTIME);
		return;
	}
	fd = folders_make(launch->state_fd, launch->place.state, "box", &wish);
	if (!text_format(launch->boot.box_dir, LIMIT_PATH, "%s/box", launch->place.state))
		refuse_start("invalid_input", "the state's path is too long");
}

void
state_open(struct launch *launch)
{
	const struct place *place = &launch->place;
	/* Executor and broker may enter runs, nobody else: a job's uid cannot reach another run. */
	const struct folder_wish runs = {
		{ launch->executor.uid, launch->broker.gid }, launch->root ? 0750 : 0700,
	};
	const struct folder_wish broker = { launch->broker, 0700 };

	launch->broker_state_fd = folders_make(launch->state_fd, place->state, "broker", &broker);
	launch->runs_fd = folders_make(launch->state_fd, place->state, "runs", &runs);
	open_audit(launch);
	open_box(launch);
	launch->daemon_stderr = open_log(launch);
}

/*
 * What is made in here shall lie apart on the disk (chattr(1), T): ext4 puts a new file near its folder, and
 * one without a journal looks past every inode that was freed there in the last minutes, which is a
 * millisecond for each file where much is removed.  A hint: who does not know it goes without.
 */
static void
spread(int folder)
{
	int flags;

	if (ioctl(folder, FS_IOC_GETFLAGS, &flags) < 0 || flags & FS_TOPDIR_FL)
		return;
	flags |= FS_TOPDIR_FL;
	ioctl(folder, FS_IOC_SETFLAGS, &flags);
}

static void
make_run_folders(const struct launch *launch)
{
	spread(launch->runs_fd);
	for (unsigned i = 0; i < launch->boot.slot_count; i++) {
		/* Set-gid: what the slot's init writes there belongs to the broker's group. */
		const struct folder_wish wish = {
			{ launch->boot.slots[i].init, launch->broker.gid }, launch->root ? 02750 : 0700,
		};
		char name[16];

		text_format(name, sizeof(name), "%u", i);
		close(folders_make(launch->runs_fd, launch->place.runs, name, &wish));
	}
}

static void
write_roots(const struct launch *launch, mode_t mode)
{
	const struct boot *boot = &launch->boot;
	scoped_free char *bytes = malloc((size_t)boot->root_count * LIMIT_PATH + 1);
	size_t length = 0;

	if (!bytes)
		refuse_start("internal_error", "out of memory");
	for (unsigned i = 0; i < boot->root_count; i++) {
		size_t one = strlen(boot->roots[i].path) + 1;

		/* what no job can write is nobody's trap */
		if (boot->roots[i].flags & ROOT_EXTRA_READ)
			continue;
		memcpy(bytes + length, boot->roots[i].path, one);
		length += one;
	}
	folders_write_file(launch->state_fd, launch->place.state, PLACE_ROOTS_FILE, bytes, length, mode);
}

void
state_record(const struct launch *launch)
{
	const struct place *place = &launch->place;
	mode_t mode = launch->root ? 0644 : 0600; /* everybody's place_find() reads root's */

	make_run_folders(launch);
	folders_write_file(launch->state_fd, place->state, PLACE_WORKSPACE_FILE, place->workspace,
	    strlen(place->workspace), mode);
	folders_write_file(launch->state_fd, place->state, PLACE_SOCKETS_FILE, place->runtime,
	    strlen(place->runtime), mode);
	write_roots(launch, mode);
}
