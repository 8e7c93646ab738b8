/* The socket in the run folder. */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "attach.h"
#include "keep.h"
#include "log.h"
#include "scope.h"

#define WAITING_MOST 4 /* one executor, and room for a few that are turned away */

/*
 * The folder's path may be longer than sun_path and lies below directories that we may not pass:
 * so bind by the bare name.  Everybody may connect who comes this far; the kernel tells who it is.
 */
int
attach_listen(int folder_fd)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = KEEP_SOCKET };
	scoped_close int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 || fchdir(folder_fd) < 0)
		return -1;
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, WAITING_MOST) < 0)
		return -1;
	if (fchmodat(folder_fd, KEEP_SOCKET, 0666, 0) < 0)
		return -1;
	return scope_keep(&fd);
}

int
attach_accept(int listen_fd, uid_t executor_uid)
{
	scoped_close int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (fd < 0)
		return -1;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0) {
		log_errno("keeper.sock: who is it");
		return -1;
	}
	if (peer.uid != executor_uid) {
		log_warn("keeper.sock: uid %u (pid %d) is not the executor", peer.uid, peer.pid);
		return -1;
	}
	return scope_keep(&fd);
}
