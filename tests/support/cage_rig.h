#ifndef CAGE_RIG_H
#define CAGE_RIG_H

/*
 * A rig around the real executor and keeper: it makes what launch makes (namespace, map, box,
 * idmapped roots, run folders, cgroup) and plays broker and auditor on two socketpairs.  Needs
 * root; with ordinary == true everything runs as one ordinary uid, as launch does it for a user.
 */
#include <sys/types.h>

#include <stdbool.h>
#include <stdint.h>

#include "boot.h"
#include "channel.h"

#define CAGE_RIG_SLOTS 8
#define CAGE_RIG_OWNER 12345 /* owns the workspace; the ordinary user */

struct cage_rig {
	bool beside;                /* with places beside the root, see cage_world.c; set it before the start */
	/* of the bounds; set before cage_rig_open(); the executor has a network namespace of its own always */
	enum network network;
	struct tcp_ports ports;
	bool ordinary;
	char base[LIMIT_PATH];      /* everything lies below it */
	char workspace[LIMIT_PATH]; /* base/ws, or where the caller said */
	char cgroup[LIMIT_PATH];    /* "": none to be had here */
	struct boot boot;
	struct channel broker, auditor; /* our ends */
	pid_t executor;
	bool permit;                /* what the auditor says to an intent */
	struct msg_executor_ready ready;
	unsigned facts[8];          /* how many of each enum fact were appended */
	uint64_t question;
	struct run_name collected;  /* the last one: an executor that was killed may tell it again */
};

/* What became of one run. */
struct cage_run {
	enum message_type last; /* RUN_ENDED, RUN_REFUSED or RUN_LOST */
	struct run_end end;
	uint32_t stage;
	int32_t error;
	bool started;
	uint64_t layers;
	char out[65536], err[16384]; /* as the keeper kept it */
};

/* A plan's changeable parts; what is NULL or 0 has a default. */
struct cage_order {
	const char *const *argv;
	const char *const *envp;    /* default: PATH, HOME, LANG */
	const char *cwd;            /* default: the workspace */
	const char *profile;        /* default: "default" */
	const char *const *read_paths, *const *write_paths; /* NULL-ended; see cage_world.c for what there is */
	uint64_t minimum, idle_ms;
	enum network network;
	struct tcp_ports ports;
	uint64_t timeout_ms, file_bytes, cpu_seconds, processes, open_files, tmp_bytes;
	unsigned slot;
	void (*spoil)(struct cage_rig *rig); /* called between assessment and start */
	uint32_t cancel_after_ms;
};

/* Set up and start; the executor has said EXECUTOR_READY. */
void cage_rig_open(struct cage_rig *rig, bool ordinary);

/* Assess, plan, start, wait for the end, collect.  False: ASSESS_UNAVAILABLE or _WORKDIR. */
bool cage_rig_run(struct cage_rig *rig, const struct cage_order *order, struct cage_run *run);

/*
 * The same in pieces: a sealed plan after an assessment (-1: not available), and the run of any
 * plan.
 */
int cage_rig_plan(struct cage_rig *rig, const struct cage_order *order);
void cage_rig_start(struct cage_rig *rig, int plan, unsigned slot, struct run_name *name);
void cage_rig_wait(struct cage_rig *rig, const struct run_name *name, uint32_t cancel_after_ms,
    struct cage_run *run);

/* Until RUN_STARTED; ends the test program when something else comes. */
void cage_rig_wait_started(struct cage_rig *rig, const struct run_name *name);

/* RUN_ASK, as a broker after its start. */
void cage_rig_ask(struct cage_rig *rig, const struct run_name *name);

/* `sh -c script` with the defaults. */
bool cage_rig_script(struct cage_rig *rig, const char *script, struct cage_run *run);

/* `sh -c text` outside of any cage, as root; its exit code. */
int cage_rig_shell(const char *text);

/* Kill the executor and start another one in the same place. */
void cage_rig_restart(struct cage_rig *rig);

/* A file in the workspace, owned by its owner. */
void cage_rig_write(struct cage_rig *rig, const char *name, const char *text, mode_t mode);

/* End it and leave nothing behind; the executor's wait status. */
int cage_rig_close(struct cage_rig *rig);

#endif
