/* The two sockets, listening before the broker starts. */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "folders.h"
#include "launch.h"
#include "refuse.h"
#include "scope.h"

/* We hold the lock: whoever listened there is gone.  Anything but a socket of our own stays. */
static void
remove_stale(const char *path, uid_t owner)
{
	struct stat st;

	if (lstat(path, &st) < 0) {
		if (errno != ENOENT)
			refuse_start("internal_error", "%s: %s", path, strerror(errno));
		return;
	}
	if (!S_ISSOCK(st.st_mode) || st.st_uid != owner)
		refuse_start("invalid_input", "%s is in the way: it is no socket of ours", path);
	if (unlink(path) < 0)
		refuse_start("internal_error", "%s: %s", path, strerror(errno));
}

static int
listen_on(const char *path, mode_t mode, uid_t owner)
{
	int fd;

	remove_stale(path, owner);
	fd = place_listen(path, mode);
	if (fd < 0)
		refuse_start("internal_error", "%s: %s", path, strerror(errno));
	refuse_undo_socket(path);
	return fd;
}

/* The system's sockets: one group may propose, another may decide.  Closed until the group is right. */
static void
give_to_group(const char *path, gid_t group)
{
	if (lchown(path, (uid_t)-1, group) < 0 || chmod(path, 0660) < 0)
		refuse_start("internal_error", "%s: %s", path, strerror(errno));
}

void
sockets_open(struct launch *launch)
{
	const struct place *place = &launch->place;
	bool system = place->mode == MODE_SYSTEM;
	const struct folder_wish wish = {
		launch->self, system ? 0755 : launch->root ? 0711 : 0700,
	};
	scoped_close int folder_fd = -1;

	if (strcmp(place->runtime, place->state) != 0)
		folder_fd = folders_make_path(place->runtime, &wish);
	launch->control_fd = listen_on(place->control, 0600, launch->self.uid);
	launch->propose_fd = listen_on(place->propose, system || !launch->root ? 0600 : 0666,
	    launch->self.uid);
	if (system) {
		give_to_group(place->control, launch->operate_gid);
		give_to_group(place->propose, launch->propose_gid);
	}
}
