/* The executor's own cage. */
#include <sys/capability.h>
#include <sys/prctl.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "become.h"
#include "box.h"
#include "cage.h"
#include "nsmap.h"
#include "refuse.h"
#include "scope.h"
#include "user_namespace.h"

#define NAMESPACE_LIMIT "/proc/sys/user/max_user_namespaces"

/*
 * Capabilities inside the user namespace only: mounts and namespaces, the slots' uids, their
 * signals; the last one where a job may get a loopback of its own.
 */
static const cap_value_t kept[] = { CAP_SYS_ADMIN, CAP_SETUID, CAP_SETGID, CAP_SETPCAP, CAP_KILL,
	CAP_NET_ADMIN };

#define KEPT (int)(sizeof(kept) / sizeof(kept[0]))

void
cage_require(const struct launch *launch)
{
	enum user_namespace answer;
	int error;

	if (launch->root)
		return;
	answer = user_namespace_try(&error);
	if (answer != USER_NAMESPACE_WORKS)
		refuse_start("cage_unavailable", "no job can be confined: a user namespace: %s. `agent-safe doctor` "
		    "names what forbids it, and what to do", user_namespace_text(answer, error));
}

/* The limit belongs to the namespace we are in: a job cannot make one to fill its bounding set again. */
static void
forbid_user_namespaces(void)
{
	scoped_close int fd = open(NAMESPACE_LIMIT, O_RDWR | O_CLOEXEC);
	char text[8] = "";

	if (fd < 0 || write(fd, "0", 1) != 1 || pread(fd, text, sizeof(text) - 1, 0) < 1)
		become_fail(NAMESPACE_LIMIT);
	errno = EINVAL;
	if (strcmp(text, "0\n") != 0)
		become_fail(NAMESPACE_LIMIT);
}

/* Permitted, effective and inheritable; inheritable while the bounding set still allows it. */
static void
keep_capabilities(int count)
{
	cap_t sets = cap_init();

	if (!sets || cap_set_flag(sets, CAP_PERMITTED, count, kept, CAP_SET) < 0 ||
	    cap_set_flag(sets, CAP_EFFECTIVE, count, kept, CAP_SET) < 0 ||
	    cap_set_flag(sets, CAP_INHERITABLE, count, kept, CAP_SET) < 0 || cap_set_proc(sets) < 0)
		become_fail("keep the executor's capabilities");
	cap_free(sets);
	for (cap_value_t number = 0; cap_get_bound(number) >= 0; number++)
		if (cap_drop_bound(number) < 0)
			become_fail("drop the executor's bounding set");
	for (int i = 0; i < count; i++) /* ambient: they survive the exec of a plain file */
		if (cap_set_ambient(kept[i], CAP_SET) < 0)
			become_fail("keep an ambient capability");
}

static void
become_executor(struct identity identity, enum network network)
{
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0 || setgroups(0, NULL) < 0 ||
	    setresgid(identity.gid, identity.gid, identity.gid) < 0 ||
	    setresuid(identity.uid, identity.uid, identity.uid) < 0)
		become_fail("change to the executor's uid");
	keep_capabilities(network == NETWORK_NONE ? KEPT - 1 : KEPT);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		become_fail("no_new_privs");
}

void
cage_enter(const struct launch *launch, int sync_fd)
{
	/* A job that may connect to ports of the host's network stays in the executor's. */
	int own = launch->boot.network == NETWORK_TCP_PORTS ? 0 : CLONE_NEWNET;
	char byte = 'u';

	if (!launch->root) {
		become_somebody(launch->executor);
		return;
	}
	if (unshare(CLONE_NEWNS) < 0)
		become_fail("mount namespace");
	box_build(launch);
	/* The mounts of the outer namespace are locked in the one that belongs to the new user namespace. */
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | own) < 0)
		become_fail("user namespace");
	if (write(sync_fd, &byte, 1) != 1 || read(sync_fd, &byte, 1) != 1)
		become_fail("wait for the maps");
	forbid_user_namespaces();
	become_executor(launch->executor, launch->boot.network);
}

bool
cage_write_maps(const struct launch *launch, pid_t pid, int sync_fd)
{
	char byte;

	errno = EPIPE;
	return read(sync_fd, &byte, 1) == 1 && nsmap_write_executor(pid, launch) &&
	    write(sync_fd, &byte, 1) == 1;
}
