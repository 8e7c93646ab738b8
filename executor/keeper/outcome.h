#ifndef OUTCOME_H
#define OUTCOME_H

/* How a run ended, decided from what was seen.  Pure. */
#include <stdbool.h>
#include <stdint.h>

#include "run.h"

/* Why we ended the job ourselves.  The first cause stays: a cancel after the deadline is still a timeout. */
enum cause {
	CAUSE_NONE = 0,
	CAUSE_DEADLINE,
	CAUSE_IDLE,   /* no output for too long */
	CAUSE_CANCEL,
	CAUSE_OUTPUT, /* more output than its bound */
	CAUSE_SETUP,  /* the cage was never finished */
};

/* Everything that was seen of one run. */
struct outcome_facts {
	bool begun;          /* INIT_STARTED: the program was executed */
	bool refused;        /* INIT_FAILED, with stage and error */
	uint32_t stage;
	int32_t error;
	bool reported;       /* INIT_ENDED: main_status is how the main process ended */
	int main_status;     /* of wait(2) */
	uint32_t leftovers;
	bool init_reaped;    /* init_status is how init ended */
	int init_status;     /* of wait(2) */
	uint64_t oom_kills;  /* of the job's own cgroup, 0 where there is none */
	uint64_t fork_failures; /* for the limit of its own cgroup, 0 where there is none */
	uint64_t cpu_us;       /* of the main process and what it waited for */
	uint64_t cpu_limit_us; /* of one process, 0: none */
	bool file_limit;       /* there is one of a file's size */
	enum cause cause;
	bool killed;         /* we sent KILL before the main process was reported */
	bool capture_fault;
};

/* Set outcome, exit_code, signal, stage, error and flags of *end; nothing else of it. */
void outcome_decide(const struct outcome_facts *facts, struct run_end *end);

#endif
