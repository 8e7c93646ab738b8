/* What the adapter gives up before it reads its first line. */
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "confine.h"
#include "landlock.h"
#include "log.h"
#include "scope.h"
#include "seal.h"

#include "mcp.h"

/*
 * open() for reading directories only; Landlock holds the same border on paths.  socket() and
 * connect() stay: the broker may have to be found again, and every `wait` has its own connection.
 */
static const struct seal_rule allowed[] = {
	{ .number = __NR_read },
	{ .number = __NR_write },
	{ .number = __NR_sendto },
	{ .number = __NR_sendmsg },
	{ .number = __NR_recvmsg },
#ifdef __NR_poll
	{ .number = __NR_poll },
#endif
	{ .number = __NR_ppoll },
	{ .number = __NR_close },
	{ .number = __NR_connect },
	{ .number = __NR_getsockopt },
	{ .number = __NR_geteuid },
	{ .number = __NR_socket, .argument = 1, .mask = ~0ull, .value = AF_UNIX },
	{ .number = __NR_openat, .argument = 3, .mask = O_ACCMODE | O_CREAT | O_DIRECTORY, .value = O_DIRECTORY },
	{ .number = __NR_openat, .action = SEAL_EPERM },
	{ .number = __NR_brk },
	{ .number = __NR_munmap },
	{ .number = __NR_mremap },
	{ .number = __NR_madvise },
	{ .number = __NR_mmap, .argument = 3, .mask = PROT_EXEC, .value = 0 },
	{ .number = __NR_mprotect, .argument = 3, .mask = PROT_EXEC, .value = 0 },
	{ .number = __NR_clock_gettime },
	{ .number = __NR_sysinfo }, /* qsort() of glibc before 2.37, beyond a kilobyte: the keys of a large object */
	{ .number = __NR_getrandom },
	{ .number = __NR_futex },
	{ .number = __NR_restart_syscall },
	{ .number = __NR_rt_sigreturn },
	{ .number = __NR_exit_group },
};

/* An ordinary account keeps what it has no use for: without exec and with no_new_privs it gains nothing. */
static void
drop_privileges(void)
{
	if (geteuid() == 0) {
		confine_privileges(0);
		return;
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		fatal("no_new_privs: %s", strerror(errno));
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0)
		fatal("not dumpable: %s", strerror(errno));
	confine_limit(RLIMIT_CORE, 0);
}

void
mcp_confine(void)
{
	scoped_close int top = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	const struct confine_file files[] = { { top, LL_READ_DIR | LL_RESOLVE_UNIX } };

	if (top < 0)
		fatal("/: %s", strerror(errno));
	drop_privileges();
	confine_files(files, 1, 1);
	seal_apply(allowed, sizeof(allowed) / sizeof(*allowed));
}
