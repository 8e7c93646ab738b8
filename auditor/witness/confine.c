/*
 * What is left to a witness: its own folder and standard input and output.  It parses what another
 * host sends; no user namespace, for the second host's owner may have none to give.
 */
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <errno.h>
#include <string.h>

#include "confine.h"
#include "landlock.h"
#include "log.h"
#include "seal.h"

#include "witness.h"

#define ANY(name) { .number = __NR_##name, .action = SEAL_ALLOW }
#define NOT_EXECUTABLE(name) \
	{ .number = __NR_##name, .action = SEAL_ALLOW, .argument = 3, .mask = PROT_EXEC, .value = 0 }

static const struct seal_rule rules[] = {
	ANY(read), ANY(write), ANY(openat), ANY(close), ANY(fstat), ANY(newfstatat), ANY(lseek),
	ANY(fsync), ANY(renameat), ANY(mkdirat), ANY(flock), ANY(getdents64), ANY(fcntl), ANY(faccessat),
#ifdef __NR_faccessat2
	ANY(faccessat2),
#endif
#ifdef __NR_alarm
	ANY(alarm),
#endif
	ANY(setitimer), ANY(clock_gettime), ANY(getrandom), ANY(futex),
	NOT_EXECUTABLE(mmap), NOT_EXECUTABLE(mprotect), ANY(munmap), ANY(mremap), ANY(brk), ANY(madvise),
	ANY(restart_syscall), ANY(rt_sigreturn), ANY(exit_group),
};

void
witness_confine(int folder_fd)
{
	const struct confine_file folder = { folder_fd,
		LL_READ_FILE | LL_WRITE_FILE | LL_READ_DIR | LL_MAKE_REG | LL_MAKE_DIR | LL_REMOVE_FILE | LL_TRUNCATE };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		fatal("prctl: %s", strerror(errno));
	confine_limit(RLIMIT_CORE, 0);
	confine_limit(RLIMIT_NPROC, 0);
	confine_limit(RLIMIT_NOFILE, 32);
	confine_files(&folder, 1, 1);
	seal_apply(rules, sizeof(rules) / sizeof(rules[0]));
}
