/* Where the programs of the trio are. */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "launch.h"
#include "refuse.h"
#include "scope.h"
#include "text.h"

static const char *const names[PROGRAM_COUNT] = {
	[PROGRAM_BROKER] = "agent-safe-broker",
	[PROGRAM_EXECUTOR] = "agent-safe-executor",
	[PROGRAM_AUDITOR] = "agent-safe-auditor",
	[PROGRAM_KEEPER] = "agent-safe-keeper",
	[PROGRAM_COURIER] = "agent-safe-courier",
};

/* The folder of our own binary; -1 when that cannot be told. */
static int
open_own_folder(void)
{
	char path[LIMIT_PATH];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *slash;

	if (length < 0)
		return -1;
	path[length] = '\0';
	slash = strrchr(path, '/');
	if (!slash)
		return -1;
	slash[slash == path ? 1 : 0] = '\0';
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Started by descriptor, so that no daemon's uid needs a way to the folder. */
static int
open_program(int own_fd, int libexec_fd, const char *name)
{
	int fd = openat(own_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 && errno == ENOENT && libexec_fd >= 0)
		fd = openat(libexec_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		refuse_start("internal_error", "program %s: %s", name, strerror(errno));
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (st.st_mode & S_IWOTH))
		refuse_start("internal_error", "program %s: no regular file, or everybody may write it", name);
	return fd;
}

static void
open_some(struct launch *launch, int first, int count)
{
	scoped_close int own_fd = open_own_folder();
	scoped_close int libexec_fd = open(AGENT_SAFE_LIBEXECDIR, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (own_fd < 0)
		refuse_start("internal_error", "our own folder: %s", strerror(errno));
	for (int i = first; i < first + count; i++)
		launch->programs[i] = open_program(own_fd, libexec_fd, names[i]);
}

void
programs_open(struct launch *launch)
{
	open_some(launch, 0, PROGRAM_COURIER);
}

void
programs_open_courier(struct launch *launch)
{
	open_some(launch, PROGRAM_COURIER, 1);
}

_Static_assert(PROGRAM_COURIER == PROGRAM_COUNT - 1, "the courier comes last: it is opened only where there is one");
