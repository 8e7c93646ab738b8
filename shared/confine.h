#ifndef CONFINE_H
#define CONFINE_H

/*
 * What a process gives up for ever.  Each function does it, reads it back and ends the process
 * when it does not hold: nobody serves less confined than it was told to.
 */
#include <stddef.h>
#include <stdint.h>

/*
 * no_new_privs, not dumpable, no core, empty bounding, ambient, inheritable, permitted and
 * effective sets, no supplementary groups (when root started us).  Where the bounding set may
 * not be dropped (an ordinary user), the process first enters a user namespace of its own with
 * one uid and drops it there.  keep: capability bits that stay permitted and effective (the
 * executor's; 0 for all others).
 */
void confine_privileges(uint64_t keep);

/*
 * Landlock: from here on only these files, no TCP, no signal to and no abstract
 * socket of anybody outside.  Every right of the kernel's ABI is handled; rights
 * beyond it are left out of the mask.  ABI < floor is fatal.
 */
struct confine_file {
	int fd;          /* a directory or file, any open mode; the rule stays when it is closed */
	uint64_t rights; /* LL_* of landlock.h; for a file that is no directory only rights of files */
};
void confine_files(const struct confine_file *files, size_t count, unsigned floor);

/* The same for the keeper, who must be able to kill its init, which is outside: signals stay possible. */
void confine_files_but_signals(const struct confine_file *files, size_t count, unsigned floor);

/* The same for the courier, whose commands reach other hosts: TCP stays possible. */
void confine_files_but_network(const struct confine_file *files, size_t count, unsigned floor);

/* Lower (never raise) one limit, read back. */
void confine_limit(int resource, uint64_t value);

#endif
