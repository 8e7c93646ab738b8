#ifndef ATTEMPT_H
#define ATTEMPT_H

/*
 * One attempt of one job in our hands, from RUN_START (or from its folder, after a restart) until
 * the broker has stored its end.
 *
 *   PREPARING -> INTENT -> STARTING -> RUNNING -> INSPECTING -> RECORDING -> TOLD -> FREE
 *
 * From every state but the last two RECORDING can follow: refused, cancelled, lost.
 */
#include <stdbool.h>
#include <stdint.h>

#include "channel.h"
#include "loop.h"
#include "run.h"

#include "decode.h"
#include "errand.h"

struct executor;

enum attempt_state {
	ATTEMPT_FREE,
	ATTEMPT_PREPARING, /* a child looks at directory and program */
	ATTEMPT_INTENT,    /* the auditor has been asked */
	ATTEMPT_STARTING,  /* the midwife is at work */
	ATTEMPT_RUNNING,   /* or found again, and not known to have begun */
	ATTEMPT_INSPECTING, /* ended: a child looks at the protected paths */
	ATTEMPT_RECORDING, /* ended: the auditor has the fact */
	ATTEMPT_TOLD,      /* the broker has it */
};

struct attempt {
	enum attempt_state state;
	struct executor *executor;
	struct run_name run;
	char name[RUN_FOLDER_BYTES];
	uint8_t digest[32];
	struct plan plan; /* argv NULL: found again, no plan */
	int root;         /* index in the boot record */
	int folder;       /* -1: none */
	struct errand errand;

	struct channel keeper; /* fd -1: none */
	struct source source;
	int keeper_pidfd;
	/* STARTING: the midwife's; RUNNING without a keeper: look again; 0: none */
	uint64_t deadline_us;
	bool stop;            /* cancelled */
	bool adopted;         /* its folder was there when we began */
	bool fresh;           /* we have made its folder: what we did not put there is not there */
	unsigned watched;     /* fresh: how many places, see start_findings */

	struct run_end end;   /* INSPECTING, RECORDING, TOLD */
	uint64_t token;       /* of the fact that ends it */
};

struct attempt *attempt_find(struct executor *executor, const struct run_name *run);
/* How many there are. */
unsigned attempt_count(const struct executor *executor);

/* Is an attempt of this slot at work, or waiting to be told?  An adopted one that has ended is not in the way. */
bool attempt_slot_is_busy(const struct executor *executor, unsigned slot);

/* A free one, named; NULL when all are taken. */
struct attempt *attempt_new(struct executor *executor, const struct run_name *run);

/* An end without times or output, for what never ran or nobody saw. */
struct run_end attempt_plain_end(enum outcome outcome);

/* No keeper of it is listened to any more. */
void attempt_forget_keeper(struct attempt *attempt);

/* It is over: clean up, tell the auditor.  end->outcome decides which fact it is. */
void attempt_conclude(struct attempt *attempt, const struct run_end *end);
void attempt_refuse(struct attempt *attempt, uint32_t stage, int error);

/* The fact is on record (or was): mark it, tell the broker. */
void attempt_tell(struct attempt *attempt);

/* The broker has stored it. */
void attempt_collect(struct attempt *attempt);

/* Listen to its keeper on this descriptor. */
void attempt_listen(struct attempt *attempt, int fd);

/* The keeper is gone or broke the contract: the result if there is one, else lost. */
void attempt_lose(struct attempt *attempt);

/* Cancelled: at once where a keeper is at the other end, else as soon as that is decided. */
void attempt_stop(struct attempt *attempt);

/* Deadlines. */
void attempt_expire(struct attempt *attempt, uint64_t now_us);

#endif
