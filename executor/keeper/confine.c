/*
 * What is left to a keeper: the descriptors it holds, and renaming result.new in its folder.
 *
 * The job's bytes pass through this process, so it is the first that a hostile job meets: after
 * the start it opens nothing, makes no socket and no process, and no memory becomes executable.
 * Signals stay possible (Landlock), for it must be able to kill init (on_init.c looks whether it
 * can); by its uid init is all it can reach.
 */
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <linux/seccomp.h>

#include "confine.h"
#include "keep.h"
#include "keeper.h"
#include "landlock.h"
#include "log.h"
#include "seal.h"

#define DESCRIPTORS_MOST 32 /* 31 at most are open: 16 handed over, 9 of our own, the listener, connections */
#define LANDLOCK_FLOOR 1

#define ANY(name) { .number = __NR_##name, .action = SEAL_ALLOW }
#define NOT_EXECUTABLE(name) \
	{ .number = __NR_##name, .action = SEAL_ALLOW, .argument = 3, .mask = PROT_EXEC, .value = 0 }
#define REQUEST(request) \
	{ .number = __NR_ioctl, .action = SEAL_ALLOW, .argument = 2, .mask = 0xffffffff, .value = (uint32_t)(request) }

static const struct seal_rule rules[] = {
	ANY(read), ANY(write), ANY(pread64), ANY(pwrite64), ANY(close), /* pipes, files, log */
	ANY(fsync), ANY(fdatasync), ANY(renameat), ANY(fstat),
#ifdef __NR_newfstatat
	ANY(newfstatat), /* fstat() of glibc from 2.33 */
#endif
	ANY(recvmsg), ANY(sendmsg), ANY(accept4), ANY(getsockopt), /* init, executor, keeper.sock */
#ifdef __NR_epoll_wait
	ANY(epoll_wait),
#endif
	ANY(epoll_pwait), ANY(epoll_ctl), ANY(clock_gettime),
	ANY(wait4), ANY(pidfd_send_signal), /* init */
	REQUEST(SECCOMP_IOCTL_NOTIF_RECV), REQUEST(SECCOMP_IOCTL_NOTIF_SEND), /* denied calls */
	NOT_EXECUTABLE(mmap), NOT_EXECUTABLE(mprotect), ANY(munmap), ANY(mremap), ANY(brk), /* malloc */
	ANY(madvise), ANY(futex), ANY(getrandom),
	ANY(restart_syscall), ANY(rt_sigreturn), ANY(exit), ANY(exit_group),
};

/*
 * The midwife empties the bounding set.  If it had not, confine_privileges() would enter a user
 * namespace to do it, and in there the executor's uid, seen through keeper.sock, has no number.
 */
static void
check_bounding_set(void)
{
	int held = 0;

	for (int number = 0; held >= 0; number++) {
		held = prctl(PR_CAPBSET_READ, number, 0, 0, 0);
		if (held > 0)
			fatal("capability %d is in the bounding set", number);
	}
}

void
keeper_confine(void)
{
	const struct confine_file folder = { KEEPER_FOLDER_FD, LL_MAKE_REG | LL_REMOVE_FILE };

	check_bounding_set();
	confine_privileges(0);
	confine_limit(RLIMIT_NOFILE, DESCRIPTORS_MOST);
	confine_files_but_signals(&folder, 1, LANDLOCK_FLOOR);
	seal_apply(rules, sizeof(rules) / sizeof(rules[0]));
}
