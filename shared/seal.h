#ifndef SEAL_H
#define SEAL_H

/*
 * A seccomp filter from a table of numbers, without a library.  Wrong architecture and x32 are
 * killed; what is not in the table is killed too (SECCOMP_RET_KILL_PROCESS), unless the entry
 * or the fallback says otherwise.
 */
#include <stddef.h>
#include <stdint.h>

enum seal_action { SEAL_ALLOW = 0, SEAL_EPERM, SEAL_ENOSYS };

struct seal_rule {
	int number;              /* __NR_... */
	enum seal_action action;
	uint8_t argument;        /* 1..6: compare argument-1; 0: no comparison */
	uint64_t mask, value;    /* (argument & mask) == value for the action; else the next rule of this number */
};

/* Load it, last of all confinements; read back from /proc/self/status is up to tests: prctl(PR_GET_SECCOMP) must say 2. */
void seal_apply(const struct seal_rule *rules, size_t count);

#endif
