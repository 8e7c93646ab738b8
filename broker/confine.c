/* What the broker gives up for ever. */
#include <sys/syscall.h>

#include "boot.h"
#include "confine.h"
#include "landlock.h"
#include "seal.h"

#include "broker.h"

#ifdef __NR_open /* x86_64: what glibc still calls by the old numbers */
#define OLD_CALLS \
	{ .number = __NR_stat }, { .number = __NR_lstat }, { .number = __NR_unlink }, \
	{ .number = __NR_readlink }, { .number = __NR_access }, { .number = __NR_epoll_wait },
#else
#define OLD_CALLS
#endif

/* No socket, no new process, no exec, no signal to anybody else, no other identity. */
static const struct seal_rule rules[] = {
	OLD_CALLS
	/* files: the store, results, memfds; where to, Landlock says */
	{ .number = __NR_openat }, { .number = __NR_openat2 }, { .number = __NR_close },
	{ .number = __NR_read }, { .number = __NR_write }, { .number = __NR_pread64 },
	{ .number = __NR_pwrite64 }, { .number = __NR_lseek }, { .number = __NR_fstat },
	{ .number = __NR_newfstatat }, { .number = __NR_statx }, { .number = __NR_faccessat },
	{ .number = __NR_fcntl }, { .number = __NR_ftruncate }, { .number = __NR_fsync },
	{ .number = __NR_fdatasync }, { .number = __NR_unlinkat }, { .number = __NR_memfd_create },
	{ .number = __NR_dup3 },
	{ .number = __NR_fchown, .action = SEAL_EPERM }, /* SQLite as uid 0: not needed */
	/* a working directory from its descriptor */
	{ .number = __NR_readlinkat }, { .number = __NR_name_to_handle_at },
	/* peers and clients: sockets that are open, and those that come from them */
	{ .number = __NR_accept4 }, { .number = __NR_recvmsg }, { .number = __NR_sendmsg },
	{ .number = __NR_recvfrom }, { .number = __NR_sendto }, { .number = __NR_getsockopt },
	{ .number = __NR_epoll_ctl }, { .number = __NR_epoll_pwait },
	/* memory, clocks, the end */
	{ .number = __NR_mmap, .argument = 3, .mask = 4, .value = 0 }, /* never PROT_EXEC */
	{ .number = __NR_mprotect, .argument = 3, .mask = 4, .value = 0 },
	{ .number = __NR_munmap }, { .number = __NR_mremap }, { .number = __NR_madvise },
	{ .number = __NR_brk }, { .number = __NR_futex }, { .number = __NR_getrandom },
	{ .number = __NR_clock_gettime }, { .number = __NR_sysinfo }, { .number = __NR_getpid },
	{ .number = __NR_gettid }, { .number = __NR_geteuid }, { .number = __NR_rt_sigprocmask },
	{ .number = __NR_rt_sigreturn }, { .number = __NR_restart_syscall }, { .number = __NR_exit },
	{ .number = __NR_exit_group },
};

void
broker_confine(void)
{
	const struct confine_file files[] = {
		/* queue.db and its write-ahead log are made, written and removed here */
		{ BROKER_STATE_FD, LL_READ_FILE | LL_WRITE_FILE | LL_READ_DIR | LL_MAKE_REG |
		    LL_REMOVE_FILE | LL_TRUNCATE },
		/* results are read */
		{ BROKER_RUNS_FD, LL_READ_FILE | LL_READ_DIR },
	};

	confine_privileges(0);
	confine_files(files, sizeof(files) / sizeof(files[0]), 1);
	seal_apply(rules, sizeof(rules) / sizeof(rules[0]));
}
