/* Everything but one folder, for Landlock. */
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "landlock.h"
#include "limits.h"
#include "log.h"
#include "scope.h"
#include "text.h"

#include "carve.h"

#define OF_FILES (LL_EXECUTE | LL_WRITE_FILE | LL_READ_FILE | LL_TRUNCATE | LL_IOCTL_DEV)

static void
add(struct carve *carve, int fd, mode_t mode)
{
	if (carve->count == CARVE_MOST) {
		log_warn("so many entries that the rest stays closed to the commands");
		close(fd);
		return;
	}
	carve->files[carve->count++] = (struct confine_file){ fd, S_ISDIR(mode) ? UINT64_MAX : OF_FILES };
}

/* A link is what it leads to, and that is somewhere else. */
static void
add_entry(struct carve *carve, int folder_fd, const char *name)
{
	scoped_close int fd = openat(folder_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || S_ISLNK(st.st_mode))
		return;
	if (carve->count < CARVE_MOST || S_ISDIR(st.st_mode))
		add(carve, scope_keep(&fd), st.st_mode);
}

static bool
is_passed_over(const char *name, const char *other)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, other) == 0;
}

static void
add_all_but(struct carve *carve, int folder_fd, const char *name)
{
	int fd = openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *listing = fd < 0 ? NULL : fdopendir(fd);

	if (!listing && fd >= 0)
		close(fd);
	for (struct dirent *item; listing && (item = readdir(listing));)
		if (!is_passed_over(item->d_name, name))
			add_entry(carve, folder_fd, item->d_name);
	if (listing)
		closedir(listing);
}

void
carve_around(struct carve *carve, const char *path)
{
	char copy[LIMIT_PATH], *at = copy, *name;
	int folder_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (!text_path_is_clean(path) || !text_copy(copy, sizeof(copy), path + 1))
		fatal("the state's path: %s", path);
	while (folder_fd >= 0 && (name = strsep(&at, "/"))) {
		int next_fd = openat(folder_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		/* What cannot be walked cannot be reached by a command either, while it is so. */
		if (next_fd < 0 && errno != EACCES)
			fatal("%s: %s", path, strerror(errno));
		add_all_but(carve, folder_fd, name);
		close(folder_fd);
		folder_fd = next_fd;
	}
	if (folder_fd >= 0)
		close(folder_fd);
}

void
carve_add(struct carve *carve, int folder_fd)
{
	add(carve, fcntl(folder_fd, F_DUPFD_CLOEXEC, 0), S_IFDIR);
}

void
carve_close(struct carve *carve)
{
	while (carve->count > 0)
		close(carve->files[--carve->count].fd);
}
