#ifndef EXECUTOR_H
#define EXECUTOR_H

/* The executor's whole state, and the handlers of its messages. */
#include <stdbool.h>
#include <stdint.h>

#include "boot.h"
#include "channel.h"
#include "loop.h"

#include "attempt.h"
#include "cache.h"
#include "cage.h"
#include "inquiry.h"
#include "local.h"
#include "resolve.h"
#include "runs.h"

/* One per slot, and as many again that hold none: refused ones, and those that wait to be told. */
#define EXECUTOR_ATTEMPTS (2 * LIMIT_SLOTS)

struct executor {
	struct boot boot;
	struct loop loop;
	struct channel broker, auditor;
	struct source broker_source, auditor_source;
	bool welcomed; /* by the auditor; before that nothing may be asked of us */
	bool folders_left; /* that are not collected, and for which there was no room (adopt.h) */
	bool one_uid;  /* an ordinary user's: job, init and executor are one */

	struct identity jobs[LIMIT_SLOTS], inits[LIMIT_SLOTS];
	struct identity owners[LIMIT_ROOTS]; /* of boot.roots */
	struct identity every[2 * LIMIT_SLOTS + 1 + LIMIT_ROOTS];
	struct identities ours; /* all of the above, ourselves and the owners that jobs run as */
	struct runs runs[LIMIT_SLOTS];

	uint64_t layers; /* of every job here, without its cgroup; fewer in some roots (run_as.h) */
	int landlock_abi;
	ino_t outside[CAGE_NAMESPACES];
	char template[LIMIT_PATH];

	struct cache cache;
	struct local local;
	struct attempt attempts[EXECUTOR_ATTEMPTS];
	struct inquiry inquiries[INQUIRY_COUNT];
	uint64_t tokens; /* the last one given to a fact */
};

/* Prepare everything that jobs have in common; ends the process when something is missing. */
void executor_open(struct executor *executor);

/* As whom a job of this slot works in this root or place beside the roots: an index in the boot record. */
const struct identity *executor_job(const struct executor *executor, unsigned slot, int root);

/* Give up what is not needed for that, and say hello. */
void executor_confine(const struct executor *executor);
void executor_greet(struct executor *executor);

/* One round: wait, answer, look at the deadlines. */
void executor_serve(struct executor *executor);

/*
 * Handlers, one per row of messages.def that may come here.  from: the attempt whose keeper sent
 * it, NULL for broker and auditor.  Descriptors of the message are the handler's to close.
 */
#define TO_EXECUTOR(NAME, name, sender, descriptors) \
	void executor_on_##name(struct executor *executor, struct attempt *from, \
	    const struct message *message);
#include "messages.def"

/* Call the handler of a message that channel_take() let through. */
void executor_dispatch(struct executor *executor, struct attempt *from,
    const struct message *message);

#endif
