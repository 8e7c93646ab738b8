#ifndef LAUNCH_H
#define LAUNCH_H

/* What launch gathers until the three can start, and the steps that gather it. */
#include <sys/types.h>

#include <stdbool.h>

#include "boot.h"
#include "place.h"

enum program { PROGRAM_BROKER, PROGRAM_EXECUTOR, PROGRAM_AUDITOR, PROGRAM_KEEPER, PROGRAM_COURIER,
	PROGRAM_COUNT };

struct identity {
	uid_t uid;
	gid_t gid;
};

/* Descriptors: -1 until opened.  All are close-on-exec and live as long as launch. */
struct launch {
	struct place_wish wish;
	bool keep_stderr; /* the daemons log to our standard error, not to trio.log */
	bool root;        /* started by uid 0: own uids, namespaces, idmapped mounts */
	struct place place;

	struct identity broker, executor, auditor, courier, self;
	uid_t first_slot_uid;   /* root: job 0, init 0, job 1, init 1, ... */
	gid_t propose_gid, operate_gid;

	int programs[PROGRAM_COUNT];
	int lock_fd, state_fd;
	int broker_state_fd, audit_log_fd, audit_key_fd, runs_fd;
	int courier_home_fd;    /* -1: no courier */
	int policy_fd;          /* /dev/null when there is no policy */
	uid_t policy_owner;     /* of its file */
	int root_fds[LIMIT_ROOTS]; /* O_PATH, of boot.roots */
	int jobs_fd;            /* jobs/ of the cgroup; /dev/null when there is none */
	int propose_fd, control_fd;
	int daemon_stderr;
	off_t log_start;        /* what trio.log held before this start */

	struct boot boot; /* what the three are told; filled step by step */
};

/* options.c: the command line into wish and keep_stderr; ends the process when it is wrong. */
void options_read(struct launch *launch, int argc, char **argv);

/* programs.c: beside our own binary, else in the libexec folder. */
void programs_open(struct launch *launch); /* but for the courier */
void programs_open_courier(struct launch *launch);

/* accounts.c: a user or group of /etc/passwd and /etc/group, read without NSS; false when there is none. */
bool accounts_find_user(const char *name, struct identity *identity);
bool accounts_find_group(const char *name, gid_t *gid);

/* uids.c: who the three are, and the first slot uid. */
void uids_choose(struct launch *launch);

/* Why no job may run under these ids of a root's owner, or NULL. */
const char *uids_owner_fault(uid_t uid, gid_t gid);

/* policy_bounds.c: open the policy and let the broker's binary say what the executor is bound to. */
void policy_bounds_read(struct launch *launch);

/*
 * commands.c: may the commands of the policy be run at all?  Ends the start when nobody allowed them;
 * opens the courier's program and folder when there are any.
 */
void commands_open(struct launch *launch);

/*
 * warn.c: something is left out.  On standard error, which nobody keeps when a client started us, and
 * in trio.log.
 */
void warn(struct launch *launch, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* roots.c: canonical roots with their owners; those that cannot serve are left out with a warning. */
void roots_open(struct launch *launch);

/* sockets.c: both, listening; a stale one is replaced. */
void sockets_open(struct launch *launch);

/* recover.c: one run of the auditor to repair and open its log, and the append-only flags. */
void recover_log(struct launch *launch);

/* ready.c: wait until the broker answers; ends everything when one of the three ends first. */
void ready_wait(const struct launch *launch, const pid_t pids[3]);

#endif
