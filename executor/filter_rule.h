#ifndef FILTER_RULE_H
#define FILTER_RULE_H

/*
 * Rules of filters under construction, for filter.c and filter_sockets.c alone: the one place that
 * includes seccomp.h.  A rule that libseccomp does not take ends the process.
 *
 * libseccomp: an unconditional rule silently replaces conditional ones for the same call; a rule
 * has at most one comparison per argument, all must hold; comparisons are of 64 bits, where the
 * kernel often reads 32.
 */
#include <seccomp.h>

#include "filter_build.h"

#define FILTER_CALL_WORD 0xffffffffu /* the bits of an argument that the kernel reads as an int */

void filter_check(int result, const char *what);

/*
 * By name; a call that this architecture does not have is left out, an unknown name is our
 * mistake.
 */
void filter_rule(scmp_filter_ctx filter, uint32_t action, const char *name);

/* The same where a comparison holds. */
void filter_rule_if(scmp_filter_ctx filter, uint32_t action, const char *name,
    struct scmp_arg_cmp compare);

/* filter_sockets.c: for filters that allow what no rule names. */
void filter_refuse_sockets(scmp_filter_ctx filter, enum filter_sockets sockets);

#endif
