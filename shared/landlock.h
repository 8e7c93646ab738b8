#ifndef LANDLOCK_H
#define LANDLOCK_H

/*
 * Landlock's kernel ABI by number: Debian 12's headers end at REFER.
 * Source: Documentation/userspace-api/landlock.rst and include/uapi/linux/landlock.h of Linux 6.15.
 */
#include <sys/syscall.h>

#include <stdint.h>
#include <unistd.h>

/* Profile default runs on no less: without REFER nothing can be moved between directories, or everything. */
#define LANDLOCK_FLOOR_DEFAULT 2

#define LL_EXECUTE (1ull << 0)
#define LL_WRITE_FILE (1ull << 1)
#define LL_READ_FILE (1ull << 2)
#define LL_READ_DIR (1ull << 3)
#define LL_REMOVE_DIR (1ull << 4)
#define LL_REMOVE_FILE (1ull << 5)
#define LL_MAKE_CHAR (1ull << 6)
#define LL_MAKE_DIR (1ull << 7)
#define LL_MAKE_REG (1ull << 8)
#define LL_MAKE_SOCK (1ull << 9)
#define LL_MAKE_FIFO (1ull << 10)
#define LL_MAKE_BLOCK (1ull << 11)
#define LL_MAKE_SYM (1ull << 12)
#define LL_REFER (1ull << 13)     /* ABI 2 */
#define LL_TRUNCATE (1ull << 14)  /* ABI 3 */
#define LL_IOCTL_DEV (1ull << 15) /* ABI 5 */

#define LL_NET_BIND_TCP (1ull << 0)    /* ABI 4 */
#define LL_NET_CONNECT_TCP (1ull << 1) /* ABI 4 */

#define LL_SCOPE_ABSTRACT_UNIX (1ull << 0) /* ABI 6 */
#define LL_SCOPE_SIGNAL (1ull << 1)        /* ABI 6 */

struct landlock_attr {
	uint64_t handled_fs, handled_net, scoped;
};
struct landlock_path {
	uint64_t allowed;
	int32_t parent_fd;
} __attribute__((packed));

/* landlock_restrict_self(): what is denied goes to the kernel's audit log also after the next exec. */
#define LL_LOG_NEW_EXEC_ON (1u << 1) /* ABI 7 */

#define LL_RULE_PATH 1

/* The kernel's ABI, 0 when there is none: the one probe, which tests can replace. */
int landlock_abi(void);

/* fs rights an ABI knows. */
uint64_t landlock_fs_rights(int abi);

#endif
