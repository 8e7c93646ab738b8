/* What the broker asks for. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "keep.h"
#include "log.h"

#include "adopt.h"
#include "executor.h"
#include "start.h"
#include "tell.h"

/* A slot that is ours, after the auditor's welcome: anything else is a broker that lost its way. */
static void
demand(const struct executor *executor, const struct run_name *run)
{
	if (!executor->welcomed)
		fatal("breach by broker: before EXECUTOR_READY");
	if (run->slot >= executor->boot.slot_count || run->attempt == 0)
		fatal("breach by broker: no such slot or attempt");
}

void
executor_on_program_assess(struct executor *executor, struct attempt *from,
    const struct message *message)
{
	(void)from;
	if (!executor->welcomed)
		fatal("breach by broker: before EXECUTOR_READY");
	inquiry_start(executor, message->body.program_assess.question, message->descriptors[0]);
}

/*
 * A run whose folder was there when we began is not started again: a power cut may have taken back
 * that its plan had left, and the broker asks after it next.
 */
void
executor_on_run_start(struct executor *executor, struct attempt *from,
    const struct message *message)
{
	const struct msg_run_start *order = &message->body.run_start;
	const struct attempt *attempt = attempt_find(executor, &order->run);

	(void)from;
	demand(executor, &order->run);
	if (attempt && !attempt->adopted)
		fatal("breach by broker: started twice");
	if (!attempt)
		start_attempt(executor, order, message->descriptors[0]);
	close(message->descriptors[0]);
}

void
executor_on_run_cancel(struct executor *executor, struct attempt *from,
    const struct message *message)
{
	struct attempt *attempt = attempt_find(executor, &message->body.run_cancel.run);

	(void)from;
	if (attempt && attempt->state < ATTEMPT_RECORDING)
		attempt_stop(attempt);
	/* Else it has ended meanwhile, and the broker hears so. */
}

/* A run that left no trace here never began, or nobody can say more. */
static void
tell_unknown(struct executor *executor, const struct run_name *run)
{
	struct attempt *attempt = attempt_new(executor, run);
	struct run_end end = attempt_plain_end(OUTCOME_LOST);

	if (!attempt)
		fatal("more runs than slots");
	attempt_conclude(attempt, &end);
}

void
executor_on_run_ask(struct executor *executor, struct attempt *from, const struct message *message)
{
	const struct run_name *run = &message->body.run_ask.run;
	struct attempt *attempt;

	(void)from;
	demand(executor, run);
	attempt = attempt_find(executor, run);
	if (!attempt) {
		if (adopt_one(executor, run) < 0)
			tell_unknown(executor, run);
		attempt = attempt_find(executor, run);
	} else if (attempt->state == ATTEMPT_TOLD)
		tell_broker(attempt);
	/* INSPECTING, RECORDING: it has ended, and is told as soon as that is on record. */
	if (attempt && attempt->state < ATTEMPT_INSPECTING)
		tell_lives(attempt);
}

void
executor_on_run_collected(struct executor *executor, struct attempt *from,
    const struct message *message)
{
	struct attempt *attempt = attempt_find(executor, &message->body.run_collected.run);

	(void)from;
	if (!attempt)
		return; /* said twice */
	if (attempt->state != ATTEMPT_TOLD)
		fatal("breach by broker: collected what was not told");
	attempt_collect(attempt);
}

void
executor_on_run_prune(struct executor *executor, struct attempt *from,
    const struct message *message)
{
	const struct run_name *run = &message->body.run_prune.run;
	char name[RUN_FOLDER_BYTES];

	(void)from;
	demand(executor, run);
	run_folder(run, name);
	if (attempt_find(executor, run))
		log_warn("%s: not pruned: not collected yet", name);
	else if (runs_prune(&executor->runs[run->slot], run) < 0 && errno != ENOENT)
		log_warn("%s: prune: %s", name, strerror(errno));
}
