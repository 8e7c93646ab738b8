/* What the auditor gives up for ever, once its log, its key and its channels are open. */
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <fcntl.h>
#include <linux/falloc.h>

#include "confine.h"
#include "landlock.h"
#include "seal.h"

#include "auditor.h"

#define OPEN_FILES 1024 /* and descriptors on their way to the broker: segments, while it does not read */
#define ABI_FLOOR 1     /* older rights suffice: one folder, no devices, no sockets */

/*
 * What is left.  Nothing here removes, renames, shortens, starts, connects or traces; a file is
 * opened only in the log folder, and never emptied.
 */
static const struct seal_rule rules[] = {
	/* the log and the key: append, overwrite a slot, make durable */
	{ .number = __NR_write },
	{ .number = __NR_pwrite64 },
	{ .number = __NR_fdatasync },
	{ .number = __NR_fsync },
	{ .number = __NR_fallocate, .argument = 2, .mask = UINT32_MAX, .value = FALLOC_FL_KEEP_SIZE },

	/* a new segment; segments to read, for the broker and for its greeting */
	{ .number = __NR_openat, .argument = 3, .mask = O_TRUNC, .value = 0 },
	{ .number = __NR_linkat },
	{ .number = __NR_read },
	{ .number = __NR_close },
	{ .number = __NR_getdents64 },
	{ .number = __NR_lseek },
	{ .number = __NR_fstat },
	{ .number = __NR_newfstatat },
	{ .number = __NR_fstatfs },

	/* the peers */
	{ .number = __NR_recvmsg },
	{ .number = __NR_sendmsg },
	{ .number = __NR_fcntl, .argument = 2, .mask = UINT32_MAX, .value = F_GET_SEALS },
	{ .number = __NR_memfd_create }, /* a checkpoint for the courier */
	{ .number = __NR_fcntl, .argument = 2, .mask = UINT32_MAX, .value = F_ADD_SEALS },
	{ .number = __NR_fcntl, .argument = 2, .mask = UINT32_MAX, .value = F_GETFL }, /* fdopendir() asks */
	{ .number = __NR_fcntl, .argument = 2, .mask = UINT32_MAX, .value = F_SETFD }, /* and sets close-on-exec */
	{ .number = __NR_epoll_ctl },
#ifdef __NR_epoll_wait
	{ .number = __NR_epoll_wait },
#endif
	{ .number = __NR_epoll_pwait },

	/* the C library: memory, clocks, the end */
	{ .number = __NR_mmap, .argument = 3, .mask = PROT_EXEC, .value = 0 },
	{ .number = __NR_munmap },
	{ .number = __NR_brk },
	{ .number = __NR_clock_gettime },
	{ .number = __NR_restart_syscall },
	{ .number = __NR_exit_group },
};

void
auditor_confine(void)
{
	const struct confine_file files[] = {
		{ AUDITOR_LOG_FD, LL_READ_FILE | LL_WRITE_FILE | LL_READ_DIR | LL_MAKE_REG },
	};

	confine_limit(RLIMIT_NPROC, 0);
	confine_limit(RLIMIT_NOFILE, OPEN_FILES);
	confine_privileges(0);
	confine_files(files, sizeof(files) / sizeof(files[0]), ABI_FLOOR);
	seal_apply(rules, sizeof(rules) / sizeof(rules[0]));
}
