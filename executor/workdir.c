/* The approved working directory. */
#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <unistd.h>

#include "scope.h"

#include "workdir.h"

static int
stale(void)
{
	errno = ESTALE;
	return -1;
}

/* Below the root, no link on the way: the path is canonical, or it is not the approved one. */
static int
open_directory(const struct resolve_world *world, const char *cwd)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS };
	const char *below = cwd + strlen(world->root);
	int fd, saved;

	below += strspn(below, "/");
	if (identity_assume(&world->job) < 0)
		return -1;
	fd = (int)syscall(SYS_openat2, world->root_fd, *below ? below : ".", &how, sizeof(how));
	saved = errno;
	identity_resume();
	errno = saved;
	return fd;
}

static int
check_birth(int fd, const struct plan *plan)
{
	struct statx seen;

	if (plan->cwd_birth_ns == 0)
		return 0;
	if (statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &seen) < 0)
		return -1;
	if (!(seen.stx_mask & STATX_BTIME) || plan->cwd_birth_ns !=
	    (uint64_t)seen.stx_btime.tv_sec * 1000000000u + seen.stx_btime.tv_nsec)
		return stale();
	return 0;
}

/* i32le type, then the handle's bytes, as the broker wrote them. */
static int
check_handle(int fd, const struct plan *plan)
{
	union {
		struct file_handle handle;
		unsigned char space[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} seen = { .handle.handle_bytes = MAX_HANDLE_SZ };
	unsigned char type[4];
	int mount_id;
	unsigned kind;

	if (plan->cwd_handle_length == 0)
		return 0;
	if (name_to_handle_at(fd, "", &seen.handle, &mount_id, AT_EMPTY_PATH) < 0)
		return -1;
	kind = (unsigned)seen.handle.handle_type;
	for (unsigned i = 0; i < 4; i++)
		type[i] = (unsigned char)(kind >> 8 * i);
	if (plan->cwd_handle_length != 4 + seen.handle.handle_bytes ||
	    memcmp(plan->cwd_handle, type, 4) != 0 ||
	    memcmp(plan->cwd_handle + 4, seen.handle.f_handle, seen.handle.handle_bytes) != 0)
		return stale();
	return 0;
}

int
workdir_check(const struct resolve_world *world, const struct plan *plan)
{
	scoped_close int fd = open_directory(world, plan->cwd);
	struct stat seen;

	if (fd < 0 || fstat(fd, &seen) < 0)
		return -1;
	if (seen.st_dev != plan->cwd_dev || seen.st_ino != plan->cwd_ino)
		return stale();
	return check_birth(fd, plan) < 0 ? -1 : check_handle(fd, plan);
}
