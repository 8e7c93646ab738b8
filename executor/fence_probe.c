/* Does Landlock hold? */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <unistd.h>

#include "scope.h"

#include "fence_probe.h"
#include "template.h"

/* A file that everybody may read and that no rule covers. */
static int
read_file(void)
{
	scoped_close int fd = open("/" TEMPLATE_PROBE, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -1 : 0;
}

/* To a port that no rule can name.  Landlock answers before anything is sent. */
static int
connect_nowhere(void)
{
	const struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	scoped_close int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	return connect(fd, (const struct sockaddr *)&address, sizeof(address));
}

static int
connect_abstract(const struct fence_probe *probe)
{
	scoped_close int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	return connect(fd, (const struct sockaddr *)&probe->address, probe->length);
}

/* bind() without a name: the kernel takes a free one. */
static int
make_abstract(struct fence_probe *probe)
{
	probe->address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	probe->length = sizeof(probe->address);
	probe->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (probe->socket < 0 ||
	    bind(probe->socket, (const struct sockaddr *)&probe->address, sizeof(sa_family_t)) < 0 ||
	    getsockname(probe->socket, (struct sockaddr *)&probe->address, &probe->length) < 0)
		return -1;
	return connect_abstract(probe);
}

int
fence_probe_open(struct fence_probe *probe, const struct landlock_attr *wanted)
{
	probe->wanted = *wanted;
	probe->socket = -1;
	if (read_file() < 0)
		return -1;
	return wanted->scoped & LL_SCOPE_ABSTRACT_UNIX ? make_abstract(probe) : 0;
}

static bool
is_refused(int result, int error)
{
	return result < 0 && errno == error;
}

int
fence_probe_close(struct fence_probe *probe)
{
	bool held = is_refused(read_file(), EACCES);

	if (probe->wanted.handled_net)
		held = held && is_refused(connect_nowhere(), EACCES);
	if (probe->socket >= 0) {
		held = held && is_refused(connect_abstract(probe), EPERM);
		close(probe->socket);
	}
	errno = EPERM;
	return held ? 0 : -1;
}
