#ifndef LANDLOCK_H
#define LANDLOCK_H

/*
 * Landlock's kernel ABI by number: Debian 12's headers end at REFER.
 * Source: Documentation/userspace-api/landlock.rst and include/uapi/linux/landlock.h of Linux 6.15,
 * and what the kernel's log says of the ABIs 8 (threads), 9 and 10, which came after it.
 */
#include <sys/syscall.h>

#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "profile.h"

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
#define LL_RESOLVE_UNIX (1ull << 16) /* ABI 9: connect() to a socket by its path */
#define LL_FS_LAST LL_RESOLVE_UNIX

#define LL_NET_BIND_TCP (1ull << 0)    /* ABI 4 */
#define LL_NET_CONNECT_TCP (1ull << 1) /* ABI 4 */
#define LL_NET_BIND_UDP (1ull << 2)    /* ABI 10 */
#define LL_NET_SEND_UDP (1ull << 3)    /* ABI 10 */

#define LL_SCOPE_ABSTRACT_UNIX (1ull << 0) /* ABI 6 */
#define LL_SCOPE_SIGNAL (1ull << 1)        /* ABI 6 */

struct landlock_attr {
	uint64_t handled_fs, handled_net, scoped;
};
struct landlock_path {
	uint64_t allowed;
	int32_t parent_fd;
} __attribute__((packed));

struct landlock_port {
	uint64_t allowed, port;
};

/* landlock_restrict_self(), from ABI 7 on: what goes to the kernel's audit log, where that is switched on. */
#define LL_LOG_SAME_EXEC_OFF (1u << 0) /* nothing before the next exec: our own probes are no news */
#define LL_LOG_NEW_EXEC_ON (1u << 1)   /* and what is denied after it */

#define LL_RULE_PATH 1
#define LL_RULE_PORT 2

/* The kernel's ABI, 0 when there is none: the one probe, which tests can replace. */
int landlock_abi(void);

/* Rights an ABI knows. */
uint64_t landlock_fs_rights(int abi);
uint64_t landlock_net_rights(int abi);
uint64_t landlock_scopes(int abi);

/* As much of landlock_attr as this ABI knows: the kernel wants that, or zeros behind it. */
size_t landlock_attr_size(int abi);

/*
 * What is taken from a job.  Its own loopback is its own: nothing of the network is handled there.
 */
struct landlock_attr landlock_job(int abi, enum network network);

/*
 * The ABI below which nothing runs like this.  2: without REFER nothing can be moved between
 * directories, or everything.  In the host's network also 6: below 4 it limits no port, below 6
 * no abstract socket, which there are the host's.
 */
unsigned landlock_floor(enum profile profile, enum network network);

#endif
