/* How init leaves executor and host behind: async-signal-safe calls only. */
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <linux/keyctl.h>
#include <signal.h>
#include <unistd.h>

#include "leave.h"

#define HOST_NAME "cage"

/* Its life hangs on the keeper's, and nobody of its uid may look into it. */
static int
check_life(void)
{
	int number = 0;

	if (prctl(PR_GET_PDEATHSIG, &number, 0, 0, 0) == 0 && number == SIGKILL &&
	    prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0)
		return 0;
	errno = EPERM;
	return -1;
}

/* The executor's uid may walk to the template; after this we are the slot's init. */
int
leave_executor(const struct cage *cage)
{
	const struct identity *init = &cage->init;
	uid_t uids[3];

	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 || chdir(cage->template) < 0)
		return -1;
	if (syscall(SYS_setresgid, init->gid, init->gid, init->gid) < 0 ||
	    syscall(SYS_setresuid, init->uid, init->uid, init->uid) < 0 ||
	    syscall(SYS_getresuid, &uids[0], &uids[1], &uids[2]) < 0)
		return -1;
	if (uids[0] != init->uid || uids[1] != init->uid || uids[2] != init->uid) {
		errno = EPERM;
		return -1;
	}
	/*
	 * After the change of uid, which clears it.  The keeper's death before this line shows on
	 * its socket.
	 */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return -1;
	umask(0);
	return check_life();
}

/* A session keyring that nobody else has: the kernel names it, and then it must be the one in use. */
static int
join_keyring(void)
{
	long made = syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL);

	if (made < 0)
		return errno == ENOSYS ? 0 : -1;
	if (syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0) == made)
		return 0;
	errno = EPERM;
	return -1;
}

/* Session, keyring and name of its own. */
int
leave_host(void)
{
	if (setsid() < 0)
		return -1;
	if (getsid(0) != getpid()) {
		errno = EPERM;
		return -1;
	}
	return join_keyring() < 0 ? -1 : sethostname(HOST_NAME, sizeof(HOST_NAME) - 1);
}
