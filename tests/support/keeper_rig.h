#ifndef KEEPER_RIG_H
#define KEEPER_RIG_H

/*
 * Around one real keeper: a stand-in for the executor (the test itself), a midwife, and a
 * stand-in for init in a pid namespace of its own.  Needs root.  Every wait is bounded: a rig
 * that waits too long kills what it started and ends the test program.
 */
#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "channel.h"
#include "run.h"

/* Uids of nobody. */
#define RIG_EXECUTOR_UID 70001
#define RIG_STRANGER_UID 70002
#define RIG_INIT_UID 70003

#define RIG_WAIT_MS 20000

struct rig_job {
	const char *script;           /* run by sh -c; or */
	int (*work)(int control_fd);  /* this in its place, says INIT_STARTED itself, its exit code; or */
	void (*init)(int control_fd); /* this instead of the usual init; must not return */
	uint64_t timeout_ms, grace_ms; /* 0: 10000 and 300 */
	uint64_t idle_ms;
	uint64_t keep_bytes;           /* 0: 1 MiB */
	uint64_t output_bytes;
	uint64_t cpu_seconds, file_bytes; /* of the orders alone: the script lowers them itself */
	bool with_cgroup;
	int pipe_bytes;                /* of the output's pipe; 0: as the kernel makes it */
	const char *orders;            /* these bytes instead of orders */
	const char *tmpfs;             /* mount options: the run folder is a tmpfs */
	void (*prepare)(int folder_fd);
	int filters;                  /* what it answers denied calls by (keep.h); 0: there are none */
};

struct rig {
	char folder[64];
	int folder_fd;
	struct channel executor; /* the test's end */
	pid_t keeper, init;      /* init: as this process sees it */
	int keeper_pidfd, init_pidfd;
	char cgroup[128];        /* empty: none */
	bool mounted;
};

/* For main() without root: one test that is skipped and says why. */
int rig_skip_all(void);

void rig_start(struct rig *rig, const struct rig_job *job);

/* Ends what is left, removes everything. */
void rig_clean(struct rig *rig);

/* The next message of the keeper; MSG_NONE: it closed. */
enum message_type rig_hear(struct rig *rig, struct message *message);
/* It must be this one. */
struct message rig_expect(struct rig *rig, enum message_type type);
void rig_send_stop(struct rig *rig);

/* As executor after a restart: connect to keeper.sock as this uid.  The old end is closed. */
void rig_reconnect(struct rig *rig, uid_t uid);

/* Wait for the keeper's end; its wait status. */
int rig_wait_keeper(struct rig *rig);

/* Is it over within this time?  For pidfds. */
bool rig_ends_within(int pidfd, int milliseconds);

/* The result file; false when there is none. */
bool rig_result(struct rig *rig, struct run_result *result);

/* A file of the run folder, NUL-terminated, at most size - 1 bytes; its length. */
size_t rig_file(struct rig *rig, const char *name, char *bytes, size_t size);

/* Begun, ended, result equal to the message, keeper gone with 0: all of a usual run. */
struct run_end rig_run(struct rig *rig, const struct rig_job *job);

/* A number of /proc/<keeper>/status ("VmHWM:", kB), hexadecimal when `base` is 16. */
uint64_t rig_keeper_status(struct rig *rig, const char *name, int base);

#endif
