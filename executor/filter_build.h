#ifndef FILTER_BUILD_H
#define FILTER_BUILD_H

/* Between filter.c, which builds, and filter_load.c, which keeps and loads. */
#include <linux/filter.h>
#include <stdbool.h>

#include "profile.h"

/* Which system calls there are. */
enum filter_numbers {
	NUMBERS_STRICT,  /* what filter.def lists as STRICT */
	NUMBERS_LISTED,  /* STRICT and ALLOW */
	NUMBERS_REFUSED, /* all but what is listed as refused or missing */
	NUMBERS_TRACED,  /* the same, and what is listed as TRACE passes */
	NUMBERS_COUNT
};

/* Which sockets there are. */
enum filter_sockets {
	SOCKETS_PAIRS, /* none but socketpair() of streams */
	SOCKETS_OWN,   /* four families: the network namespace is the job's own */
	SOCKETS_TCP,   /* the host's namespace: TCP that connects, and local ones that do not listen */
	SOCKETS_COUNT
};

struct filter_arguments {
	enum filter_sockets sockets;
	bool any_personality; /* debuggers switch address randomisation off */
	bool shared_uid;      /* the job runs under init's uid: prlimit64() on others is refused */
};

/*
 * Each filter answers an option of prctl of its own with an errno that the kernel never gives
 * there: of several in force the kernel says only that there is one.
 */
#define FILTER_PROBE_ERRNO ENOANO
enum filter_probe {
	PROBE_OWN = 0x5ea2, /* 0x5ea1 is seal.c's */
	PROBE_INIT,
	PROBE_ARGUMENTS,    /* and the next 2 * SOCKETS_COUNT */
};

/*
 * filter_load.c, for report.c: a job's two programs in the order in which they are loaded; false
 * when they were not built.  And: 0 when the first of them is in force, else -1 with errno.
 */
bool filter_programs(enum profile profile, enum network network, struct sock_fprog programs[2]);
int filter_holds(enum profile profile, enum network network);

/* malloc()ed programs, or the end of the process. */
void filter_build_own(struct sock_fprog *program);
void filter_build_init(struct sock_fprog *program);
void filter_build_numbers(struct sock_fprog *program, enum filter_numbers numbers);
void filter_build_arguments(struct sock_fprog *program, const struct filter_arguments *arguments,
    unsigned probe);

#endif
