#ifndef SEAL_H
#define SEAL_H

/*
 * A seccomp filter from a table of numbers, without a library.  Wrong architecture and x32 are
 * killed (SECCOMP_RET_KILL_PROCESS), and so is what is not in the table.  The first rule that
 * fits decides.  Besides the table only prctl(PR_GET_SECCOMP) and a probe option of prctl are
 * answered, so that seal_apply() can read back what it did.
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

/*
 * The other way round, for a process whose children run programs that nobody knows: what is not in
 * the table is allowed.  Everything else is as below.
 */
void seal_apply_denials(const struct seal_rule *rules, size_t count);

/*
 * Load it, last of all confinements (needs no_new_privs); ends the process when the
 * filter is not in force afterwards.
 */
void seal_apply(const struct seal_rule *rules, size_t count);

#endif
