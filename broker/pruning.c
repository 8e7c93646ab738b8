/* The run folders of forgotten jobs. */
#include <errno.h>
#include <string.h>

#include "log.h"
#include "text.h"

#include "broker.h"
#include "pruning.h"

#define NOTHING UINT64_MAX
#define AGAIN_RECORDS 4096  /* so far back a new start looks */
#define TICK_RECORDS 256    /* read in one go */
#define FULL_US 20000       /* the executor has a lot to do */

void
pruning_load(struct broker *broker)
{
	uint64_t settled = broker->outbox.settled_sn;

	broker->pruning = (struct pruning){ .sn = NOTHING };
	if (settled != UINT64_MAX)
		broker->pruning.sn = settled > AGAIN_RECORDS ? settled - AGAIN_RECORDS : 0;
}

void
pruning_recorded(struct broker *broker, const struct letter *letter)
{
	if (broker->pruning.sn == NOTHING && strcmp(letter->type, "job.pruned") == 0)
		broker->pruning = (struct pruning){ .sn = letter->sn };
}

/* One folder; false: not now. */
static bool
order_one(struct broker *broker, const struct json *pair, struct run_name *run)
{
	struct message message = { .type = MSG_RUN_PRUNE };
	int64_t attempt, slot;

	/* A slot that there was under another policy is none of the executor's. */
	if (!json_integer(json_at(pair, 0), &attempt) || !json_integer(json_at(pair, 1), &slot) ||
	    slot >= broker->boot.slot_count)
		return true;
	run->attempt = (uint32_t)attempt;
	run->slot = (uint32_t)slot;
	message.body.run_prune.run = *run;
	if (channel_send(&broker->executor, &message) == 0)
		return true;
	if (errno != EAGAIN)
		fatal("send RUN_PRUNE: %s", strerror(errno));
	return false;
}

/* The folders of one job, from the first that was not ordered yet; false: not all of them now. */
static bool
order_all(struct broker *broker, const struct letter *letter)
{
	struct pruning *pruning = &broker->pruning;
	struct json_error error;
	struct json *d = json_parse((const char *)letter->d.at, letter->d.length, &error);
	const struct json *runs = json_get(d, "runs");
	const char *id = json_text(json_get(d, "job"));
	struct run_name run = { 0 };
	bool named = id && text_read_uuid(id, run.job), all;

	while (named && pruning->run < json_count(runs) &&
	    order_one(broker, json_at(runs, pruning->run), &run))
		pruning->run++;
	all = !named || pruning->run >= json_count(runs);
	json_free(d);
	return all;
}

uint64_t
pruning_tick(struct broker *broker)
{
	struct pruning *pruning = &broker->pruning;
	struct letter letter;
	bool all;

	for (unsigned i = 0; i < TICK_RECORDS; i++) {
		if (pruning->sn == NOTHING || !broker->executor_ready)
			return 0;
		if (!outbox_is_settled(&broker->outbox, pruning->sn) ||
		    !letters_from(broker->store, pruning->sn, &letter)) {
			pruning->sn = NOTHING;
			return 0;
		}
		all = strcmp(letter.type, "job.pruned") != 0 || order_all(broker, &letter);
		if (all)
			*pruning = (struct pruning){ .sn = letter.sn + 1 };
		letters_free(&letter);
		if (!all)
			return clock_monotonic_us() + FULL_US;
	}
	return clock_monotonic_us();
}
