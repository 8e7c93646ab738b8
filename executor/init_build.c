/* What pid 1 of a job goes through before it serves: async-signal-safe calls only. */
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <signal.h>
#include <stdint.h>
#include <unistd.h>

#include "fields.h"
#include "run.h"

#include "init_build.h"
#include "network.h"

#define HOST_NAME "cage"

/* Close all from 3 up but these few. */
static void
keep_only(const int *wanted, size_t count)
{
	unsigned from = 3;

	for (;;) {
		unsigned next = ~0u;

		for (size_t i = 0; i < count; i++)
			if (wanted[i] >= (int)from && (unsigned)wanted[i] < next)
				next = (unsigned)wanted[i];
		if (next > from)
			syscall(SYS_close_range, from, next == ~0u ? ~0u : next - 1, 0);
		if (next == ~0u)
			return;
		from = next + 1;
	}
}

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
static int
become_init(const struct cage *cage)
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
static int
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

/*
 * Standard input is what the plan says, in a file in memory that nobody can change and that reads
 * from its begin; else the cage's own empty device: one of the host could not be opened again in here.
 */
static int
open_input(const struct plan *plan)
{
	int fd;

	if (!plan->input)
		return open("/dev/null", O_RDONLY | O_CLOEXEC);
	fd = sealed_make("stdin", plan->input, plan->input_length);
	return fd >= 0 && lseek(fd, 0, SEEK_SET) < 0 ? -1 : fd;
}

static int
set_standard(const struct cage *cage)
{
	int input = open_input(cage->plan);

	if (input < 0)
		return -1;
	return dup2(input, 0) < 0 || dup2(cage->out, 1) < 0 || dup2(cage->err, 2) < 0 ? -1 : 0;
}

/* The steps in order; the stage of the one that failed, with errno. */
static uint32_t
become(struct cage *cage)
{
	uint32_t stage;

	if (become_init(cage) < 0)
		return STAGE_IDENTITY;
	if (leave_host() < 0)
		return STAGE_NAMESPACE;
	if (cage_mount(cage, &stage) < 0)
		return stage;
	if (getpid() != 1 || cage_check_namespaces(cage->outside, cage->plan->network) < 0 ||
	    network_settle(cage->plan->network) < 0)
		return STAGE_NAMESPACE;
	return set_standard(cage) < 0 ? STAGE_MOUNT : STAGE_NONE;
}

uint32_t
init_build(struct cage *cage)
{
	int wanted[7 + PLACES_MOST] = { cage->control, cage->out, cage->err, cage->passwd,
		cage->group, cage->program.tree, cage->interpreter.tree };
	const int left[] = { cage->control };
	uint32_t stage;

	for (unsigned i = 0; i < cage->places.count; i++)
		wanted[7 + i] = cage->places.all[i].tree;
	keep_only(wanted, 7 + cage->places.count);
	stage = become(cage);
	if (stage == STAGE_NONE)
		keep_only(left, 1);
	return stage;
}
