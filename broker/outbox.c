/* Records on their way to the auditor: in order, exactly once, before every effect. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fields.h"
#include "limits.h"
#include "log.h"
#include "loop.h"
#include "scope.h"
#include "text.h"

#include "jobs.h"
#include "outbox.h"

#define NO_SN UINT64_MAX

void
outbox_open(struct outbox *outbox, struct store *store, const struct channel *auditor)
{
	struct letters_state state;

	letters_state(store, &state);
	*outbox = (struct outbox){ .store = store,
		.auditor = auditor,
		.next_sn = state.next_sn,
		.opened_sn = state.next_sn,
		.acked_sn = state.acked_sn,
		.acked_seq = state.acked_seq,
		.settled_sn = state.acked_sn };
	memcpy(outbox->acked_hash, state.acked_hash, sizeof(outbox->acked_hash));
	outbox->unsent_sn = state.acked_sn == NO_SN ? 0 : state.acked_sn + 1;
	bytes_free(&state.policy_sha256);
}

void
outbox_allow_resync(struct outbox *outbox, const char *by)
{
	if (!text_copy(outbox->resync_by, sizeof(outbox->resync_by), by))
		fatal("resync: by whom is too long");
}

void
outbox_hello(const struct outbox *outbox)
{
	struct message message = { .type = MSG_BROKER_HELLO };
	struct msg_broker_hello *hello = &message.body.broker_hello;

	hello->next_sn = outbox->opened_sn;
	hello->acked_sn = outbox->acked_sn;
	hello->acked_seq = outbox->acked_seq;
	memcpy(hello->acked_hash, outbox->acked_hash, sizeof(hello->acked_hash));
	hello->resync = outbox->resync_by[0] != '\0';
	channel_must_send(outbox->auditor, &message);
}

/* How many records came before; "none" is 0 and not the largest number. */
static uint64_t
count_to(uint64_t sn)
{
	return sn == NO_SN ? 0 : sn + 1;
}

static void
send_letter(const struct outbox *outbox, const struct letter *letter)
{
	struct message message = { .type = MSG_RECORD_APPEND };
	struct msg_record_append *append = &message.body.record_append;
	scoped_close int fd = sealed_make("record", letter->d.at, letter->d.length);

	if (fd < 0)
		fatal("outbox: %s", strerror(errno));
	append->sn = letter->sn;
	append->seal = letter->seal;
	if (!text_copy(append->type, sizeof(append->type), letter->type))
		fatal("outbox: type of record %llu", (unsigned long long)letter->sn);
	message.descriptors[0] = fd;
	channel_must_send(outbox->auditor, &message);
}

/* What the window allows, in order. */
static void
send_more(struct outbox *outbox)
{
	struct letter letter;

	store_flush(outbox->store);
	while (outbox->open && !outbox->refusal && outbox->unsent_sn < outbox->next_sn &&
	    outbox->unsent_sn - count_to(outbox->settled_sn) < OUTBOX_WINDOW) {
		if (!letters_from(outbox->store, outbox->unsent_sn, &letter) ||
		    letter.sn != outbox->unsent_sn)
			fatal("outbox: record %llu is missing",
			    (unsigned long long)outbox->unsent_sn);
		send_letter(outbox, &letter);
		letters_free(&letter);
		outbox->unsent_sn++;
	}
}

/*
 * The log is right: in place of what we have not acknowledged it holds what the newer database sent.
 * Everything that was approved may have run since: it is decided anew, under attempt numbers that
 * were never used; and which policy it saw last is not what we remember.
 */
static void
resync(struct outbox *outbox, const struct msg_broker_welcome *welcome)
{
	struct json *d = json_object();

	json_add_text(d, "by", outbox->resync_by);
	json_add_integer(d, "log_next_sn", (int64_t)welcome->last_sn + 1);
	json_add_integer(d, "queue_next_sn", (int64_t)outbox->opened_sn);
	log_warn("database resync by order of %s: %llu records of the log are unknown here",
	    outbox->resync_by, (unsigned long long)(welcome->last_sn + 1 - outbox->opened_sn));
	outbox->acked_sn = outbox->settled_sn = welcome->last_sn;
	outbox->acked_seq = welcome->last_seq;
	memcpy(outbox->acked_hash, welcome->last_line, sizeof(outbox->acked_hash));
	outbox->next_sn = outbox->unsent_sn = welcome->last_sn + 1;
	store_begin(outbox->store);
	json_add_integer(d, "dropped", letters_drop_unsent(outbox->store));
	letters_forget_policy(outbox->store);
	letters_set_acked(outbox->store, outbox->acked_sn, outbox->acked_seq, outbox->acked_hash);
	jobs_resync(outbox->store);
	outbox_add(outbox, "db.resync", d, true, 0);
	store_commit(outbox->store);
}

void
outbox_welcome(struct outbox *outbox, const struct msg_broker_welcome *welcome)
{
	uint64_t theirs = count_to(welcome->last_sn), acked = count_to(outbox->acked_sn);

	if (outbox->open)
		fatal("outbox: welcomed twice");
	if (theirs < acked || (acked > 0 && !welcome->acked_known))
		fatal("the log lost records that it had acknowledged: it has %llu of ours, %llu "
		      "were acknowledged",
		    (unsigned long long)theirs, (unsigned long long)acked);
	if (theirs > outbox->opened_sn && outbox->resync_by[0])
		resync(outbox, welcome);
	else if (theirs > outbox->opened_sn)
		fatal("the queue is older than the log: the log has %llu of our records, the queue "
		      "knows %llu",
		    (unsigned long long)theirs, (unsigned long long)outbox->opened_sn);
	if (welcome->degraded)
		log_warn("this filesystem does not erase in place: old signing keys may survive on "
		         "the disk");
	outbox->open = true;
	outbox->degraded = welcome->degraded;
	send_more(outbox);
}

uint64_t
outbox_add(struct outbox *outbox, const char *type, struct json *d, bool seal, int64_t job)
{
	struct letter letter = { .sn = outbox->next_sn, .seal = seal, .job = job };
	size_t length;
	scoped_free char *text = json_print(d, &length);

	json_free(d);
	if (length > LIMIT_RECORD_BODY)
		fatal("outbox: %s of %zu bytes", type, length);
	letter.type = (char *)(uintptr_t)type;
	letter.d = (struct bytes){ .at = (unsigned char *)text, .length = length };
	letters_add(outbox->store, &letter, clock_realtime_us());
	return outbox->next_sn++;
}

void
outbox_commit(struct outbox *outbox)
{
	store_commit(outbox->store);
	if (!store_gathers(outbox->store))
		send_more(outbox);
}

void
outbox_gathered(struct outbox *outbox)
{
	store_gathered(outbox->store);
	send_more(outbox);
}

void
outbox_synced(struct outbox *outbox, const struct msg_record_synced *synced)
{
	if (!outbox->open || synced->sn != count_to(outbox->acked_sn) ||
	    synced->sn >= outbox->unsent_sn)
		fatal("outbox: record %llu was acknowledged out of turn",
		    (unsigned long long)synced->sn);
	outbox->acked_sn = synced->sn;
	outbox->acked_seq = synced->seq;
	outbox->seqs[synced->sn % OUTBOX_WINDOW] = synced->seq;
	memcpy(outbox->acked_hash, synced->line_hash, sizeof(outbox->acked_hash));
	outbox->low_until_us = synced->low ? clock_monotonic_us() + OUTBOX_AGAIN_US : 0;
}

void
outbox_refused(struct outbox *outbox, const struct msg_record_refused *refused)
{
	/* Later ones that were on their way are refused too; the first says why. */
	if (outbox->refusal)
		return;
	outbox->refusal = refused->code;
	outbox->again_us =
	    refused->code == REFUSAL_FULL ? clock_monotonic_us() + OUTBOX_AGAIN_US : 0;
	log_error("the auditor refuses record %llu (code %u, it expects %llu): no new work",
	    (unsigned long long)refused->sn, refused->code,
	    (unsigned long long)refused->expected_sn);
}

void
outbox_settle(struct outbox *outbox, void (*visit)(void *context, const struct letter *letter),
    void *context)
{
	uint64_t first = count_to(outbox->settled_sn), end = count_to(outbox->acked_sn);
	struct letter letter;

	if (first == end)
		return;
	/* Not synced: what a power cut takes back the auditor says again. */
	store_begin_unsynced(outbox->store);
	for (uint64_t sn = first; sn < end; sn++)
		letters_acked(outbox->store, sn, outbox->seqs[sn % OUTBOX_WINDOW]);
	letters_set_acked(outbox->store, outbox->acked_sn, outbox->acked_seq, outbox->acked_hash);
	store_commit(outbox->store);
	outbox->settled_sn = outbox->acked_sn;
	for (uint64_t sn = first; sn < end; sn++) {
		if (!letters_from(outbox->store, sn, &letter) || letter.sn != sn)
			fatal("outbox: record %llu is missing", (unsigned long long)sn);
		visit(context, &letter);
		letters_free(&letter);
	}
	send_more(outbox);
}

bool
outbox_is_settled(const struct outbox *outbox, uint64_t sn)
{
	return sn < count_to(outbox->settled_sn);
}

bool
outbox_accepts(const struct outbox *outbox, const char **why)
{
	static const char *const reasons[] = {
		[REFUSAL_GAP] = "records are missing between queue and log",
		[REFUSAL_EQUIVOCATION] = "queue and log disagree about a record",
		[REFUSAL_INVALID] = "the auditor does not accept a record",
		[REFUSAL_UNBACKED] = "the auditor does not accept a record",
		[REFUSAL_FULL] = "the log cannot be written",
		[REFUSAL_FROZEN] = "the auditor accepts no more records from the broker",
	};

	if (!outbox->refusal)
		return true;
	*why = outbox->refusal <= REFUSAL_FROZEN ? reasons[outbox->refusal]
	                                         : "the auditor refuses records";
	return false;
}

bool
outbox_takes_jobs(const struct outbox *outbox, const char **why)
{
	if (!outbox_accepts(outbox, why))
		return false;
	if (outbox->low_until_us == 0 || clock_monotonic_us() >= outbox->low_until_us)
		return true;
	*why = "space for the log is low";
	return false;
}

uint64_t
outbox_tick(struct outbox *outbox)
{
	if (!outbox->again_us)
		return 0;
	if (clock_monotonic_us() < outbox->again_us)
		return outbox->again_us;
	outbox->refusal = 0;
	outbox->again_us = 0;
	outbox->unsent_sn = count_to(outbox->acked_sn);
	send_more(outbox);
	return 0;
}

void
outbox_forget(struct outbox *outbox)
{
	store_begin(outbox->store);
	letters_forget(outbox->store, clock_realtime_us() - OUTBOX_KEEP_US);
	store_commit(outbox->store);
}
