/* The two sockets of a place, also where their path is longer than an address can be. */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "place.h"
#include "scope.h"
#include "text.h"

#define BACKLOG 64

/*
 * The address of a path.  A path longer than sun_path goes through the opened
 * folder: *folder_fd must stay open until the address has been used.
 */
static bool
make_address(const char *path, struct sockaddr_un *address, int *folder_fd)
{
	const char *slash = strrchr(path, '/');
	char folder[LIMIT_PATH];

	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (text_copy(address->sun_path, sizeof(address->sun_path), path))
		return true;
	errno = ENAMETOOLONG;
	if (!slash || !text_format(folder, sizeof(folder), "%.*s", (int)(slash - path), path))
		return false;
	*folder_fd = open(folder[0] ? folder : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (*folder_fd < 0)
		return false;
	errno = ENAMETOOLONG;
	return text_format(address->sun_path, sizeof(address->sun_path), "/proc/self/fd/%d%s",
	    *folder_fd, slash);
}

/* The credentials are those of whoever called listen(): launch, under the user's uid or root's. */
static bool
answers_for_us(int fd)
{
	struct ucred peer;
	socklen_t length = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 &&
	    (peer.uid == geteuid() || peer.uid == 0);
}

int
place_connect(const struct place *place, const char *socket_path)
{
	scoped_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	scoped_close int folder_fd = -1;
	struct sockaddr_un address;

	if (fd < 0 || !make_address(socket_path, &address, &folder_fd) ||
	    connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -1;
	if (place->mode == MODE_WORKSPACE_USER && !answers_for_us(fd)) {
		errno = EPERM;
		return -1;
	}
	return scope_keep(&fd);
}

int
place_listen(const char *socket_path, mode_t mode)
{
	scoped_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	scoped_close int folder_fd = -1;
	struct sockaddr_un address;
	mode_t mask;
	int bound;

	/* bind() gives the file the mode of the socket less the umask: it never has another one. */
	if (fd < 0 || !make_address(socket_path, &address, &folder_fd) || fchmod(fd, mode) < 0)
		return -1;
	mask = umask(0);
	bound = bind(fd, (struct sockaddr *)&address, sizeof(address));
	umask(mask);
	if (bound < 0 || listen(fd, BACKLOG) < 0)
		return -1;
	return scope_keep(&fd);
}
