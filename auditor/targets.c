/* Who gets the log's checkpoints. */
#include <inttypes.h>
#include <string.h>

#include "log.h"
#include "loop.h"

#include "cosign.h"
#include "scan.h"
#include "targets.h"

#define SECOND_US UINT64_C(1000000)
#define BACKOFF_MOST 6 /* 2^6 s after failures in a row */
#define STALE_MOST 3   /* in a row; then it is not believed any more */

/* Exit statuses of a witness' command, see agent-safe-witness(1). */
#define EXIT_INCONSISTENT 4
#define EXIT_STALE 5

void
targets_open(struct targets *targets, const struct boot_audit *audit)
{
	targets->quorum = audit->quorum;
	for (unsigned i = 0; i < audit->command_count; i++) {
		struct target *target = &targets->list[i];
		const char *why = i == 0 ? NULL : vkey_read(&target->vkey, audit->witnesses[i - 1], VKEY_WITNESS);

		if (why)
			fatal("the key of witness %u %s", i - 1, why);
		target->exists = audit->commands[i].length > 0;
		target->state = WITNESS_IDLE;
	}
}

static void
set_state(struct target *target, uint32_t state)
{
	if (target->state == state)
		return;
	target->state = state;
	target->since_us = clock_realtime_us();
	target->told = false;
}

void
targets_note(struct targets *targets, const struct record *record)
{
	struct cosign cosign;

	if (strcmp(record->type, "log.seal") != 0 && strcmp(record->type, "log.cosign") != 0)
		targets->news = true;
	if (strcmp(record->type, "log.cosign") != 0 || !cosign_read(&cosign, record->body, record->body_length))
		return;
	/* Where it stood when this was written: the begin of the next proof. */
	for (unsigned i = 1; i < TARGETS; i++)
		if (targets->list[i].exists && strcmp(targets->list[i].vkey.name, cosign.witness) == 0 &&
		    cosign.size > targets->list[i].old)
			targets->list[i].old = cosign.size;
}

void
targets_want(struct targets *targets, const struct seal *newest, uint64_t now_us)
{
	bool quiet = targets->wanted > 0 && now_us < targets->wanted_us + (CHAIN_HEARTBEAT_SECONDS - 1) * SECOND_US;

	if (!newest || (!targets->news && quiet))
		return;
	targets->news = false;
	targets->wanted = newest->size;
	targets->wanted_us = now_us;
}

static bool
has_more(const struct targets *targets, const struct target *target)
{
	return target->exists && !target->busy && target->state != WITNESS_GONE && target->taken < targets->wanted;
}

bool
targets_is_due(const struct targets *targets, unsigned index, bool hasty, uint64_t now_us)
{
	const struct target *target = &targets->list[index];

	return has_more(targets, target) && now_us >= (hasty && index > 0 ? target->hasty_us : target->next_us);
}

uint64_t
targets_deadline(const struct targets *targets, bool hasty)
{
	uint64_t deadline = UINT64_MAX;

	for (unsigned i = 0; i < TARGETS; i++) {
		const struct target *target = &targets->list[i];
		uint64_t at = hasty && i > 0 ? target->hasty_us : target->next_us;

		if (has_more(targets, target) && at < deadline)
			deadline = at;
		at = target->recorded_us + TARGETS_RECORD_US;
		if (target->has_cosignature && at < deadline)
			deadline = at;
	}
	return deadline;
}

/* --- answers ------------------------------------------------------------------------------ */

static void
succeed(struct target *target)
{
	target->taken = target->asked;
	target->failures = 0;
	target->told = false;
	set_state(target, WITNESS_GOOD);
}

void
targets_fail(struct targets *targets, unsigned index, uint32_t state)
{
	struct target *target = &targets->list[index];
	uint64_t now_us = clock_monotonic_us();

	if (target->failures < BACKOFF_MOST)
		target->failures++;
	target->next_us = now_us + (SECOND_US << target->failures);
	target->hasty_us = now_us + SECOND_US;
	set_state(target, state);
}

/* A cosignature by this witness over what it was given; other lines are not ours to judge. */
static bool
take_cosignature(struct target *target, const char *output, size_t length)
{
	struct checkpoint_lines lines = { output, length };
	struct checkpoint_signature signature;
	uint64_t seconds;

	while (checkpoint_next(&lines, &signature)) {
		if (signature.length != CHECKPOINT_COSIGNATURE || strcmp(signature.name, target->vkey.name) != 0)
			continue;
		if (!checkpoint_is_cosigned(target->text, strlen(target->text), &target->vkey, signature.bytes,
		    &seconds))
			continue;
		memcpy(target->cosignature, signature.bytes, sizeof(target->cosignature));
		target->has_cosignature = true;
		target->old = target->asked;
		return true;
	}
	return false;
}

static void
take_fork(struct targets *targets, unsigned index)
{
	log_error("witness %s has cosigned another past of this log; see agent-safe-audit(7), RECOVERY",
	    targets->list[index].vkey.name);
	targets_fail(targets, index, WITNESS_FORKED);
}

/* "<size>" LF: where it stands. */
static bool
read_size(const char *output, size_t length, uint64_t *size)
{
	struct scan scan = { output, length };

	return scan_decimal(&scan, size) && scan_literal(&scan, "\n") && scan.left == 0;
}

/* The next proof begins where it stands, unless this log never was so long. */
static void
take_stale(struct targets *targets, unsigned index, uint64_t size, uint64_t newest)
{
	struct target *target = &targets->list[index];

	if (size > newest) {
		log_error("witness %s has cosigned %" PRIu64 " lines of this log, which has %" PRIu64
		    ": the log was put back; see agent-safe-audit(7), RECOVERY", target->vkey.name, size, newest);
		targets_fail(targets, index, WITNESS_AHEAD);
	} else if (size == target->old && size == target->asked)
		take_fork(targets, index); /* it stands there, at another root: HTTP has one status for both */
	else if (size == target->old)
		targets_fail(targets, index, WITNESS_WRONG);
	else {
		target->old = size;
		/* At once, for with the right beginning it must do; but not for ever. */
		if (++target->failures > STALE_MOST)
			targets_fail(targets, index, WITNESS_WRONG);
		else
			target->next_us = target->hasty_us = 0;
	}
}

/*
 * A size is the answer of a witness that stands elsewhere, also where the command does not say so by its exit
 * status: one that only carries HTTP bodies (curl) need not be wrapped.
 */
static void
take_witness(struct targets *targets, unsigned index, const struct msg_checkpoint_carried *carried,
    const char *output, size_t length, uint64_t newest)
{
	struct target *target = &targets->list[index];
	bool spoke = carried->carried == CARRIED_EXITED && (carried->detail == 0 || carried->detail == EXIT_STALE);
	uint64_t size;

	if (spoke && read_size(output, length, &size))
		take_stale(targets, index, size, newest);
	else if (carried->carried == CARRIED_EXITED && carried->detail == EXIT_INCONSISTENT)
		take_fork(targets, index);
	else if (spoke && carried->detail == EXIT_STALE)
		targets_fail(targets, index, WITNESS_WRONG);
	else if (!spoke)
		targets_fail(targets, index, WITNESS_FAILING);
	else if (take_cosignature(target, output, length))
		succeed(target);
	else
		targets_fail(targets, index, WITNESS_WRONG);
}

void
targets_take(struct targets *targets, unsigned index, const struct msg_checkpoint_carried *carried,
    const char *output, size_t length, uint64_t newest)
{
	struct target *target = &targets->list[index];

	target->busy = false;
	target->carried = carried->carried;
	target->detail = carried->detail;
	target->next_us = clock_monotonic_us() + SECOND_US; /* the newest of a second will do, unless a run waits */
	target->hasty_us = 0;
	if (index > 0)
		take_witness(targets, index, carried, output, length, newest);
	else if (carried->carried == CARRIED_EXITED && carried->detail == 0)
		succeed(target);
	else
		targets_fail(targets, index, WITNESS_FAILING);
}

void
targets_lose(struct targets *targets)
{
	for (unsigned i = 0; i < TARGETS; i++)
		if (targets->list[i].exists) {
			targets->list[i].busy = false;
			set_state(&targets->list[i], WITNESS_GONE);
		}
}

bool
targets_have_quorum(const struct targets *targets, uint64_t seq)
{
	unsigned count = 0;

	for (unsigned i = 1; i < TARGETS; i++)
		count += targets->list[i].exists && targets->list[i].taken > seq;
	return count >= targets->quorum;
}
