/* Checkpoints on their way out, what the courier brings back, and the runs that wait for it. */
#include <sys/epoll.h>

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "fields.h"
#include "log.h"
#include "text.h"

#include "auditor.h"
#include "cosign.h"
#include "history.h"
#include "leaves.h"
#include "outward.h"

#define REPORT_US 1000000u  /* of one that only goes on */
#define ANSWERS_LEFT 64     /* a broker that does not read is told later */
#define NOTE_BYTES (CHAIN_SEAL_TEXT + 1 + 2 * CHECKPOINT_LINE)
#define BODY_BYTES (NOTE_BYTES + 64 + CONSISTENCY_MOST * BASE64_SIZE(32))

static bool
read_leaves(void *context, uint64_t seq, uint8_t leaves[HISTORY_BLOCK][32])
{
	(void)context;
	return leaves_read(AUDITOR_LOG_FD, seq, HISTORY_BLOCK, leaves);
}

static void
wake(struct source *source, uint32_t events)
{
	(void)source;
	(void)events;
}

void
outward_begin(struct auditor *auditor)
{
	auditor->history.read = read_leaves;
	if (auditor->boot.audit.command_count == 0)
		return;
	auditor->courier = (struct channel){ AUDITOR_COURIER_FD, PROCESS_AUDITOR, PROCESS_COURIER };
	auditor->courier_source = (struct source){ .fd = AUDITOR_COURIER_FD, .ready = wake };
	if (loop_add(&auditor->loop, &auditor->courier_source, EPOLLIN) < 0)
		fatal("channel of the courier: %s", strerror(errno));
	auditor->has_courier = true;
	/* What was sealed before this start may never have left. */
	auditor->targets.news = true;
	targets_want(&auditor->targets, seals_newest(&auditor->seals), clock_monotonic_us());
}

static void
lose_courier(struct auditor *auditor, const char *why)
{
	log_error("%s: no checkpoint leaves this host until the next start", why);
	loop_remove(&auditor->loop, &auditor->courier_source);
	close(auditor->courier.fd);
	auditor->has_courier = false;
	targets_lose(&auditor->targets);
}

/* --- sending ---------------------------------------------------------------------------- */

/* The newest checkpoint as a signed note: our one-time signature and the log's own. */
static size_t
compose_note(struct auditor *auditor, const char *text, char note[NOTE_BYTES])
{
	char once[CHECKPOINT_LINE], always[CHECKPOINT_LINE];
	uint8_t signature[64];

	seals_line(&auditor->seals, auditor->boot.origin, once);
	logkey_sign(&auditor->logkey, text, strlen(text), signature);
	checkpoint_signature_line(always, &auditor->logkey.vkey, signature);
	text_format(note, NOTE_BYTES, "%s\n%s%s", text, once, always);
	return strlen(note);
}

/* The body of add-checkpoint; 0: no proof leads there from what the witness has. */
static size_t
compose_body(struct auditor *auditor, const struct target *target, const char *note, char body[BODY_BYTES])
{
	uint8_t proof[CONSISTENCY_MOST][32];
	char line[BASE64_SIZE(32)];
	size_t count = 0, length;

	if (target->old > 0 && !history_prove(&auditor->history, target->old, target->asked, proof, &count))
		return 0;
	text_format(body, BODY_BYTES, "old %" PRIu64 "\n", target->old);
	length = strlen(body);
	for (size_t i = 0; i < count; i++) {
		base64_encode(line, proof[i], 32);
		text_format(body + length, BODY_BYTES - length, "%s\n", line);
		length += strlen(body + length);
	}
	text_format(body + length, BODY_BYTES - length, "\n%s", note);
	return length + strlen(body + length);
}

static void
send_bytes(struct auditor *auditor, unsigned index, const char *bytes, size_t length)
{
	struct target *target = &auditor->targets.list[index];
	struct message message = { .type = MSG_CHECKPOINT_CARRY };

	message.body.checkpoint_carry = (struct msg_checkpoint_carry){ .errand = ++target->errand, .target = index };
	message.descriptors[0] = sealed_make("checkpoint", bytes, length);
	if (message.descriptors[0] < 0)
		fatal("memfd: %s", strerror(errno));
	target->busy = channel_send(&auditor->courier, &message) == 0;
	close(message.descriptors[0]);
	if (!target->busy)
		targets_fail(&auditor->targets, index, WITNESS_FAILING);
}

static void
give(struct auditor *auditor, unsigned index)
{
	const struct seal *newest = seals_newest(&auditor->seals);
	struct target *target = &auditor->targets.list[index];
	char note[NOTE_BYTES], body[BODY_BYTES];
	size_t length;

	target->asked = newest->size;
	seals_text(auditor->boot.origin, newest, target->text);
	length = compose_note(auditor, target->text, note);
	if (index == 0) {
		send_bytes(auditor, index, note, length);
		return;
	}
	/* What was on record before has gone on there, or never was here. */
	if (target->old > newest->size) {
		targets_fail(&auditor->targets, index, WITNESS_AHEAD);
		return;
	}
	length = compose_body(auditor, target, note, body);
	if (length == 0) {
		log_error("no proof can be made from %" PRIu64 " lines on, which witness %s has cosigned", target->old,
		    target->vkey.name);
		targets_fail(&auditor->targets, index, WITNESS_FAILING);
		return;
	}
	send_bytes(auditor, index, body, length);
}

/* --- hearing ---------------------------------------------------------------------------- */

void
auditor_on_checkpoint_carried(struct auditor *auditor, const struct message *message)
{
	const struct msg_checkpoint_carried *carried = &message->body.checkpoint_carried;
	const struct seal *newest = seals_newest(&auditor->seals);
	struct target *target = carried->target < TARGETS ? &auditor->targets.list[carried->target] : NULL;
	const char *output;
	size_t length;

	if (!target || !target->busy || carried->errand != target->errand || carried->carried == 0 ||
	    carried->carried >= CARRIED_COUNT) {
		lose_courier(auditor, "breach by courier: CHECKPOINT_CARRIED that nobody waits for");
		return;
	}
	output = sealed_map(message->descriptors[0], LIMIT_CARRIED_BYTES, &length);
	if (!output) {
		lose_courier(auditor, "breach by courier: an answer that is not sealed, or too long");
		return;
	}
	targets_take(&auditor->targets, carried->target, carried, output, length, newest->size);
	sealed_unmap(output, length);
}

/* A breach ends the channel, not us: who has taken the courier over shall not stop the log. */
bool
outward_hear(struct auditor *auditor)
{
	struct message message = { 0 };
	const char *why = "breach by courier";
	bool heard = false;

	while (auditor->has_courier) {
		switch (channel_take(&auditor->courier, &message, &why)) {
		case CHANNEL_EMPTY:
			return heard;
		case CHANNEL_MESSAGE:
			auditor_on_checkpoint_carried(auditor, &message);
			close(message.descriptors[0]);
			break;
		case CHANNEL_CLOSED:
			lose_courier(auditor, "the courier is gone");
			break;
		case CHANNEL_BREACH:
			log_error("breach by courier: %s", why);
			lose_courier(auditor, "the courier is not heard any more");
			break;
		}
		heard = true;
	}
	return heard;
}

/* --- cosignatures on record ----------------------------------------------------------------- */

static void
record_cosignature(struct auditor *auditor, struct target *target)
{
	struct cosign cosign = { .size = target->taken };
	char body[COSIGN_BODY];

	target->has_cosignature = false;
	if (auditor->pen.low || !seals_find(&auditor->seals, target->taken))
		return;
	text_copy(cosign.witness, sizeof(cosign.witness), target->vkey.name);
	memcpy(cosign.bytes, target->cosignature, sizeof(cosign.bytes));
	cosign_body(body, &cosign);
	target->recorded_us = clock_monotonic_us();
	pen_note(&auditor->pen, "log.cosign", "%s", body);
}

/* Those that a run rests on at once, others once a minute. */
static void
record_cosignatures(struct auditor *auditor, bool all)
{
	uint64_t now_us = clock_monotonic_us();

	for (unsigned i = 1; i < TARGETS; i++) {
		struct target *target = &auditor->targets.list[i];

		/* Without room in this commit it waits for the next. */
		if (target->has_cosignature && pen_has_room(&auditor->pen) && (all || target->recorded_us == 0 ||
		    now_us >= target->recorded_us + TARGETS_RECORD_US))
			record_cosignature(auditor, target);
	}
}

void
outward_record_rest(struct auditor *auditor)
{
	record_cosignatures(auditor, true);
}

/* --- runs that wait -------------------------------------------------------------------------- */

bool
outward_withhold(struct auditor *auditor, const struct message *permit)
{
	struct withheld *withheld = auditor->withheld;

	if (auditor->boot.audit.require != AUDIT_REQUIRE_EXEC)
		return false;
	if (auditor->withheld_count == LIMIT_SLOTS)
		fatal("breach by executor: more intents at once than slots");
	withheld[auditor->withheld_count++] = (struct withheld){ .permit = *permit,
		.deadline_us = clock_monotonic_us() + auditor->boot.audit.seconds * UINT64_C(1000000) };
	return true;
}

static void
refuse(struct auditor *auditor, const struct withheld *withheld)
{
	struct message answer = { .type = MSG_INTENT_REFUSED };

	log_warn("a run is refused: no quorum of witnesses has cosigned its record in time");
	answer.body.intent_refused.run = withheld->permit.body.intent_permitted.run;
	answer.body.intent_refused.code = REFUSAL_UNWITNESSED;
	auditor_answer(&auditor->executor, &answer);
}

/* In order; what is permitted has the cosignatures that it rests on before it in the log. */
static void
let_go(struct auditor *auditor)
{
	uint64_t now_us = clock_monotonic_us();
	size_t kept = 0;

	if (auditor->executor.gone)
		auditor->withheld_count = 0;
	for (size_t i = 0; i < auditor->withheld_count; i++) {
		struct withheld *withheld = &auditor->withheld[i];

		if (targets_have_quorum(&auditor->targets, withheld->permit.body.intent_permitted.seq)) {
			record_cosignatures(auditor, true);
			auditor_answer(&auditor->executor, &withheld->permit);
		} else if (now_us >= withheld->deadline_us)
			refuse(auditor, withheld);
		else
			auditor->withheld[kept++] = *withheld;
	}
	auditor->withheld_count = kept;
}

/* --- the broker is told --------------------------------------------------------------------- */

static void
report(struct auditor *auditor, unsigned index)
{
	struct target *target = &auditor->targets.list[index];
	struct message message = { .type = MSG_WITNESS_REPORTED };

	message.body.witness_reported = (struct msg_witness_reported){ .target = index, .state = target->state,
		.size = target->taken, .since_us = target->since_us, .carried = target->carried,
		.detail = target->detail };
	auditor_answer(&auditor->broker, &message);
	target->told = true;
	target->told_us = clock_monotonic_us();
}

static bool
broker_listens(const struct auditor *auditor)
{
	return auditor->broker.greeted && !auditor->broker.gone && auditor->broker.count < ANSWERS_LEFT;
}

/* CLOCK_MONOTONIC: when the broker is to be told of this one; UINT64_MAX: it knows all. */
static uint64_t
report_due(const struct target *target)
{
	if (!target->exists || target->told)
		return UINT64_MAX;
	return target->state == WITNESS_GOOD ? target->told_us + REPORT_US : 0;
}

static void
report_changes(struct auditor *auditor)
{
	uint64_t now_us = clock_monotonic_us();

	for (unsigned i = 0; i < TARGETS && broker_listens(auditor); i++)
		if (now_us >= report_due(&auditor->targets.list[i]))
			report(auditor, i);
}

/* --- a round --------------------------------------------------------------------------------- */

void
outward_tend(struct auditor *auditor, bool sealed)
{
	uint64_t now_us = clock_monotonic_us();

	if (auditor->boot.audit.command_count == 0)
		return;
	if (sealed)
		targets_want(&auditor->targets, seals_newest(&auditor->seals), now_us);
	for (unsigned i = 0; i < TARGETS && auditor->has_courier; i++)
		if (targets_is_due(&auditor->targets, i, auditor->withheld_count > 0, now_us))
			give(auditor, i);
	let_go(auditor);
	record_cosignatures(auditor, false);
	report_changes(auditor);
}

uint64_t
outward_deadline(const struct auditor *auditor)
{
	uint64_t deadline = auditor->boot.audit.command_count == 0 ? UINT64_MAX :
	    targets_deadline(&auditor->targets, auditor->withheld_count > 0);

	for (unsigned i = 0; i < TARGETS && broker_listens(auditor); i++)
		if (report_due(&auditor->targets.list[i]) < deadline)
			deadline = report_due(&auditor->targets.list[i]);
	for (size_t i = 0; i < auditor->withheld_count; i++)
		if (auditor->withheld[i].deadline_us < deadline)
			deadline = auditor->withheld[i].deadline_us;
	return deadline;
}
