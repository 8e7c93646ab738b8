/* Places where the attacks work: each is made in a child of its own, for one attempt. */
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <grp.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe.h"

#define ORDINARY_UID 70009

static void
must(long result)
{
	if (result < 0)
		_exit(1); /* the attempt is then told as "cannot be tried here" */
}

void
control_plain(void)
{
}

void
control_user(void)
{
	must(setgroups(0, NULL));
	must(setresgid(ORDINARY_UID, ORDINARY_UID, ORDINARY_UID));
	must(setresuid(ORDINARY_UID, ORDINARY_UID, ORDINARY_UID));
}

void
control_namespaces(void)
{
	must(unshare(CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS));
	must(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
}

void
control_mounts(void)
{
	control_namespaces();
	must(mount("tmpfs", "/usr/bin", "tmpfs", MS_NOSUID, NULL));
	must(mknod("/usr/bin/env", S_IFREG | 0755, 0));
}

void
control_victim(void)
{
	pid_t parent = getpid();

	probe_targets.victim = fork();
	must(probe_targets.victim);
	if (probe_targets.victim > 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == parent)
		pause();
	_exit(0);
}

void
control_leak(void)
{
	must(open("/", O_RDONLY | O_DIRECTORY));
}

void
control_socket(void)
{
	int pair[2];

	must(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	must(dup2(pair[0], STDOUT_FILENO));
}

void
control_environment(void)
{
	must(setenv("PROBE", "/somewhere/control.sock", 1));
}

void
control_terminal(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY), slave;

	must(master);
	must(grantpt(master));
	must(unlockpt(master));
	must(setsid());
	slave = open(ptsname(master), O_RDWR);
	must(slave);
	must(ioctl(slave, TIOCSCTTY, 0));
	must(dup2(slave, STDIN_FILENO));
}

/* --- a host with listeners ------------------------------------------------------------ */

static void
listen_at(int type, const char *name, size_t skip)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t length = strlen(name);
	int fd = socket(AF_UNIX, type, 0);

	must(fd);
	memcpy(address.sun_path + skip, name, length);
	must(bind(fd, (struct sockaddr *)&address,
	    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + skip + length)));
	if (type == SOCK_STREAM)
		must(listen(fd, 1));
}

static void
listen_on_loopback(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	must(fd);
	must(bind(fd, (struct sockaddr *)&address, sizeof(address)));
	must(listen(fd, 1));
	must(getsockname(fd, (struct sockaddr *)&address, &size));
	probe_targets.tcp_port = ntohs(address.sin_port);
}

/* Abstract, TCP on loopback, and two kinds of IPC, all in the present namespaces. */
void
control_host_listeners(void)
{
	static char abstract[64], queue[64];
	/* The smallest there is: what a user may have of them is bounded over all processes. */
	struct mq_attr small = { .mq_maxmsg = 1, .mq_msgsize = 1 };

	snprintf(abstract, sizeof(abstract), "probe-%d", getpid());
	snprintf(queue, sizeof(queue), "/probe-%d", getpid());
	listen_at(SOCK_STREAM, abstract, 1);
	listen_on_loopback();
	probe_targets.abstract = abstract;
	probe_targets.shm_key = getpid();
	must(shmget(probe_targets.shm_key, 4096, IPC_CREAT | IPC_EXCL | 0666));
	probe_targets.queue = queue;
	must(mq_open(queue, O_RDWR | O_CREAT | O_EXCL, 0666, &small));
}

/* And paths: one is a stream, one takes datagrams, one is a file. */
void
control_listeners(void)
{
	must(unshare(CLONE_NEWIPC)); /* what is made there goes with it */
	control_host_listeners();
	unlink("probe-stream");
	unlink("probe-datagram");
	listen_at(SOCK_STREAM, "probe-stream", 0);
	listen_at(SOCK_DGRAM, "probe-datagram", 0);
	mknod("probe-file", S_IFREG | 0600, 0);
	probe_targets.paths[0] = "probe-stream";
	probe_targets.paths[1] = "probe-datagram";
	probe_targets.paths[2] = "probe-file";
	probe_targets.path_count = 3;
	probe_targets.lan = "127.0.0.1";
}
