#ifndef KEEPER_H
#define KEEPER_H

/* One job's keeper: what it knows, and the steps of its life. */
#include <stdbool.h>
#include <stdint.h>

#include "channel.h"
#include "loop.h"
#include "orders.h"
#include "outcome.h"
#include "stream.h"
#include "tally.h"

/* In this order, never back.  Each phase has one deadline, see stop.c. */
enum phase {
	PHASE_STARTING, /* the cage is being built: INIT_STARTED or INIT_FAILED must come */
	PHASE_RUNNING,  /* the program runs */
	PHASE_ENDING,   /* nothing more is to be heard: init must go, and with it the job's processes */
	PHASE_EMPTYING, /* init is reaped: its cgroup must be empty */
	PHASE_TELLING,  /* the end is decided: store it, tell it */
	PHASE_DONE
};

/* One output stream with its pipe. */
struct output {
	struct source pipe; /* fd -1: at its end */
	struct stream stream;
};

struct keeper {
	struct orders orders;
	enum phase phase;
	uint64_t deadline_us; /* monotonic, of this phase; 0: none */
	uint64_t idle_us;     /* monotonic: without output until then it is ended; 0: no limit */
	uint64_t begun_us;    /* monotonic */
	struct outcome_facts facts;
	struct run_end end;
	bool stored;          /* `result` is in the folder */

	struct loop loop;
	struct channel init, executor;  /* fd -1: closed */
	struct source init_source, executor_source;
	struct source init_death;       /* init's pidfd */
	struct source cgroup_events;    /* fd -1: there is no cgroup */
	struct source auditor;          /* fd -1: gone, or never seen */
	uint64_t loss_us;               /* monotonic: freeze then; 0: no */
	bool frozen;
	uint64_t left_us;               /* of the phase's deadline, while it is frozen */
	int handed;                     /* descriptor of the message in work, -1: none */
	struct source listener;         /* keeper.sock */
	struct output out, err;
	int lock_fd, result_fd;

	/* Only where denied calls are told to us (KEEPER_FILTERS_FD). */
	bool reports;
	struct tally_filters filters;   /* in bytes that stay mapped */
	struct tally tally;
	struct source calls;            /* its filter's listener; fd -1: not here yet, or the job is gone */
	bool heard_of;                  /* it was here */
	int denied_fd;                  /* the file KEEP_DENIED, -1: none */
};

/* --- keeper.c ------------------------------------------------------------- */

/* Read the orders, make the files of the run folder, watch everything; ends the process when it cannot. */
void keeper_open(struct keeper *keeper);
bool keeper_is_needed(const struct keeper *keeper);
void keeper_serve(struct keeper *keeper);
void keeper_close(struct keeper *keeper);

/* Hand a message, already checked against its row, to its keeper_on_...(). */
void keeper_hear(struct keeper *keeper, const struct message *message);

/* Go to a later phase, with limit_ms to stay in it (0: none). */
void keeper_enter(struct keeper *keeper, enum phase phase, uint64_t limit_ms);

/* --- confine.c -------------------------------------------------------------- */

/* Give up everything but what keeper_serve() needs, or die. */
void keeper_confine(void);

/* --- stop.c ----------------------------------------------------------------- */

/* End the job for this cause: TERM now, KILL after the grace.  Only the first cause counts. */
void stop_job(struct keeper *keeper, enum cause cause);

/* End whatever is left of it, now. */
void stop_kill(struct keeper *keeper);

/* The time of the present phase is over. */
void stop_on_deadline(struct keeper *keeper);

/* --- loss.c ----------------------------------------------------------------- */

/* Takes fd: at its end when the auditor is gone.  A frozen job goes on. */
void loss_watch(struct keeper *keeper, int fd);
void loss_on_deadline(struct keeper *keeper);
void loss_thaw(struct keeper *keeper);

/* --- finish.c --------------------------------------------------------------- */

/* Init is reaped: wait for the last of its processes, then decide and tell. */
void finish_begin(struct keeper *keeper);
void finish_end(struct keeper *keeper);

/* Store the result and tell the executor, or without one sync it; done when one of the two is. */
void finish_tell(struct keeper *keeper);

/* --- output.c --------------------------------------------------------------- */

/* Something came, or the job begins or goes on: its time without output begins anew. */
void output_touch(struct keeper *keeper);

/* Make the file in the run folder and watch the pipe; ends the process when it cannot. */
void output_open(struct keeper *keeper, struct output *output, int pipe_fd, const char *name);

/* The job is dead: take what its pipe still holds. */
void output_drain(struct output *output);
void output_close(struct output *output);

/* --- denied.c --------------------------------------------------------------- */

/* Read the filters, when there are any, and make the file; ends the process when it cannot. */
void denied_open(struct keeper *keeper);

/* Takes the listener: from here on each denied call is answered.  False: none was expected, or one is here. */
bool denied_watch(struct keeper *keeper, int listener);

/* Is everything here that denied_open() promised?  Before the program may count as started. */
bool denied_is_watched(const struct keeper *keeper);

/* The job is dead: write the file, and count and digest into `end`.  False: it could not be stored. */
bool denied_finish(struct keeper *keeper);

/* --- on_init.c, on_executor.c ------------------------------------------------ */

void on_init_watch(struct keeper *keeper);
void on_init_begin(const struct keeper *keeper); /* after keeper_confine(): the job may start */

/* Close the socket to init, which ends when it sees that. */
void on_init_hang_up(struct keeper *keeper);

void on_executor_watch(struct keeper *keeper);

/* Take this connection as the executor's, instead of the one before. */
void on_executor_adopt(struct keeper *keeper, int fd);

/* False: there is no executor, or it does not read. */
bool on_executor_tell_begun(struct keeper *keeper);
bool on_executor_tell_end(struct keeper *keeper);

/* The handlers of the rows TO_KEEPER in messages.def. */
#define TO_KEEPER(NAME, name, sender, descriptors) \
	void keeper_on_##name(struct keeper *keeper, const struct msg_##name *message);
#include "messages.def"

#endif
