/* Answers to what the broker says. */
#include <inttypes.h>
#include <string.h>

#include "digest.h"
#include "fields.h"
#include "log.h"
#include "text.h"

#include "auditor.h"
#include "recover.h"
#include "segments.h"
#include "strict.h"

#define NONE UINT64_MAX
#define FRESH_SEAL_US 60000000u /* a head sealed since needs no new seal for the asking */
#define CRITICAL_BYTES (512u << 10) /* left for how runs end: nothing else is taken */

static uint64_t
last_sn(const struct auditor *auditor)
{
	return auditor->pen.chain.next_sn[RECORD_BROKER] - 1; /* none: NONE */
}

/* Is the newest record that the broker knows as synced in this log? */
static bool
has_acked(struct auditor *auditor, const struct msg_broker_hello *hello)
{
	const struct recent_record *record = recent_find(&auditor->recent, hello->acked_sn);

	if (hello->acked_sn == NONE)
		return true;
	if (last_sn(auditor) == NONE || last_sn(auditor) < hello->acked_sn)
		return false;
	if (record)
		return record->seq == hello->acked_seq && memcmp(record->line, hello->acked_hash, 32) == 0;
	return recover_line_is(&auditor->walk, AUDITOR_LOG_FD, auditor->boot.origin, hello->acked_seq,
	    hello->acked_hash);
}

/* Log and database must tell the same past. */
static void
compare_memories(struct auditor *auditor, const struct msg_broker_hello *hello)
{
	uint64_t next = auditor->pen.chain.next_sn[RECORD_BROKER];

	if (!has_acked(auditor, hello))
		fatal("log and database disagree: the log has not the record that the broker knows as written (sn %"
		    PRIu64 ", seq %" PRIu64 "): the log was cut or lost, or the database is another one's; "
		    "see agent-safe-audit(7), RECOVERY", hello->acked_sn, hello->acked_seq);
	if (hello->next_sn >= next)
		return;
	if (!hello->resync)
		fatal("log and database disagree: the log has %" PRIu64 " records of the broker, the database only %"
		    PRIu64 ": the database was put back; see agent-safe-audit(7), RECOVERY", next, hello->next_sn);
	log_warn("database resync: the broker goes on at %" PRIu64 " instead of %" PRIu64, next, hello->next_sn);
	pen_note(&auditor->pen, "log.recover", "{\"reason\":\"db_resync\",\"log_next_sn\":%" PRIu64
	    ",\"database_next_sn\":%" PRIu64 "}", next, hello->next_sn);
	pen_commit(&auditor->pen);
}

void
auditor_on_broker_hello(struct auditor *auditor, const struct message *message)
{
	struct message answer = { .type = MSG_BROKER_WELCOME };
	struct msg_broker_welcome *welcome = &answer.body.broker_welcome;
	const struct chain *chain = &auditor->pen.chain;
	const struct recent_record *last;

	if (auditor->broker.greeted)
		fatal("breach by broker: a second BROKER_HELLO");
	compare_memories(auditor, &message->body.broker_hello);
	auditor->broker.greeted = true;
	last = recent_find(&auditor->recent, last_sn(auditor));
	welcome->last_sn = last_sn(auditor);
	if (last) {
		memcpy(welcome->last_body, last->body, 32);
		memcpy(welcome->last_line, last->line, 32);
		welcome->last_seq = last->seq;
	}
	welcome->head_seq = chain->next_seq - 1;
	memcpy(welcome->head_hash, chain->head, 32);
	welcome->seals = chain->next_seal;
	memcpy(welcome->genesis_key, chain->genesis_key, 32);
	welcome->acked_known = 1; /* else compare_memories() had ended us; nothing acknowledged is known too */
	welcome->degraded = auditor->degraded;
	memcpy(welcome->log_key, auditor->logkey.vkey.key, 32);
	auditor_answer(&auditor->broker, &answer);
}

/* --- records ------------------------------------------------------------------------ */

static void
refuse_record(struct auditor *auditor, uint64_t sn, enum record_refusal code)
{
	struct message answer = { .type = MSG_RECORD_REFUSED };

	answer.body.record_refused.sn = sn;
	answer.body.record_refused.expected_sn = auditor->pen.chain.next_sn[RECORD_BROKER];
	answer.body.record_refused.code = code;
	auditor_answer(&auditor->broker, &answer);
}

static void
confirm_record(struct auditor *auditor, const struct recent_record *record, bool duplicate)
{
	struct message answer = { .type = MSG_RECORD_SYNCED };

	answer.body.record_synced.sn = record->sn;
	answer.body.record_synced.seq = record->seq;
	memcpy(answer.body.record_synced.line_hash, record->line, 32);
	answer.body.record_synced.duplicate = duplicate;
	auditor_answer(&auditor->broker, &answer);
}

/* The same sn again: the same body is a repetition, another one the end of belief. */
static void
compare_repeated(struct auditor *auditor, uint64_t sn, const void *body, size_t length)
{
	const struct recent_record *record = recent_find(&auditor->recent, sn);
	uint8_t digest[32];
	char hex[65];

	if (!record) {
		refuse_record(auditor, sn, REFUSAL_GAP);
		return;
	}
	digest_take(digest, body, length);
	if (memcmp(digest, record->body, sizeof(digest)) == 0) {
		confirm_record(auditor, record, true);
		return;
	}
	text_hex(hex, digest, sizeof(digest));
	log_error("the broker tells record %" PRIu64 " in two ways: it is not heard any more", sn);
	pen_note(&auditor->pen, "log.refused", "{\"src\":\"broker\",\"sn\":%" PRIu64
	    ",\"code\":\"equivocation\",\"seq\":%" PRIu64 ",\"body_sha256\":\"%s\"}", sn, record->seq, hex);
	auditor->broker.frozen = true;
	refuse_record(auditor, sn, REFUSAL_EQUIVOCATION);
}

/* {"job":"<uuid>","attempt":N,"slot":N,"spec_sha256":"<hex>"}, exactly. */
static bool
is_dispatch(const char *body, size_t length)
{
	struct scan scan = { body, length };
	uint64_t attempt, slot;
	char job[TEXT_UUID];
	uint8_t bytes[32];

	if (!scan_literal(&scan, "{\"job\":\"") || scan.left < TEXT_UUID - 1)
		return false;
	memcpy(job, scan.at, TEXT_UUID - 1);
	job[TEXT_UUID - 1] = '\0';
	scan = (struct scan){ scan.at + TEXT_UUID - 1, scan.left - (TEXT_UUID - 1) };
	return text_read_uuid(job, bytes) && scan_literal(&scan, "\",\"attempt\":") && scan_decimal(&scan, &attempt) &&
	    attempt > 0 && attempt <= UINT32_MAX && scan_literal(&scan, ",\"slot\":") && scan_decimal(&scan, &slot) &&
	    slot < LIMIT_SLOTS && scan_literal(&scan, ",\"spec_sha256\":\"") && scan_hex(&scan, bytes, 32) &&
	    scan_literal(&scan, "\"}") && scan.left == 0;
}

/* What the broker may call its records; the chain's own rules come on top. */
static bool
is_legal(const char *type, const char *body, size_t length)
{
	if (strncmp(type, "exec.", 5) == 0)
		return false;
	return strcmp(type, "job.dispatch") != 0 || is_dispatch(body, length);
}

/* 0: this record may be written now. */
static int
judge(const struct auditor *auditor, uint64_t sn, const char *type, const char *body, size_t length)
{
	const struct pen *pen = &auditor->pen;

	if (auditor->broker.frozen)
		return REFUSAL_FROZEN;
	if (sn > pen->chain.next_sn[RECORD_BROKER])
		return REFUSAL_GAP;
	if (!is_legal(type, body, length))
		return REFUSAL_INVALID;
	/* Low: nothing new begins.  Critical: what is left belongs to the runs that must still end. */
	if (pen->low && (strcmp(type, "job.dispatch") == 0 || journal_room(&pen->journal) < CRITICAL_BYTES))
		return REFUSAL_FULL;
	return 0;
}

static void
append_record(struct auditor *auditor, const struct msg_record_append *append, const char *body, size_t length)
{
	const char *why;
	int refusal = judge(auditor, append->sn, append->type, body, length);

	if (refusal != REFUSAL_FROZEN && append->sn < auditor->pen.chain.next_sn[RECORD_BROKER]) {
		compare_repeated(auditor, append->sn, body, length);
		return;
	}
	if (refusal) {
		refuse_record(auditor, append->sn, (enum record_refusal)refusal);
		return;
	}
	why = pen_write(&auditor->pen, RECORD_BROKER, append->type, body, length, NULL, NULL);
	if (why) {
		log_warn("record %" PRIu64 " of the broker is refused: %s", append->sn, why);
		refuse_record(auditor, append->sn, REFUSAL_INVALID);
		return;
	}
	auditor->pen.seal_wanted |= append->seal != 0;
	confirm_record(auditor, recent_find(&auditor->recent, append->sn), false);
}

void
auditor_on_record_append(struct auditor *auditor, const struct message *message)
{
	const struct msg_record_append *append = &message->body.record_append;
	const char *body;
	size_t length;

	if (!auditor->broker.greeted)
		fatal("breach by broker: RECORD_APPEND before BROKER_HELLO");
	if (!memchr(append->type, '\0', sizeof(append->type)))
		fatal("breach by broker: a type without end");
	body = sealed_map(message->descriptors[0], LIMIT_FIELDS_BYTES, &length);
	if (!body)
		fatal("breach by broker: a record that is not sealed, or larger than any");
	append_record(auditor, append, body, length);
	sealed_unmap(body, length);
}

/* --- the head ------------------------------------------------------------------------- */

/* All segments of the folder, to be opened one by one when they are sent; the anchors before them. */
static void
answer_segments(struct auditor *auditor, uint64_t request, const struct segments *segments)
{
	struct message answer = { .type = MSG_LOG_SEGMENT };
	uint64_t index = 0;

	answer.body.log_segment.request = request;
	if (segments_begin_late(segments)) {
		answer.body.log_segment.first_seq = UINT64_MAX;
		auditor_answer(&auditor->broker, &answer);
		index++;
	}
	for (size_t i = 0; i < segments->count; i++) {
		answer.body.log_segment.index = index++;
		answer.body.log_segment.first_seq = segments->first_seqs[i];
		auditor_answer(&auditor->broker, &answer);
	}
}

static void
note_challenge(struct auditor *auditor, const uint8_t nonce[32])
{
	char hex[65];

	text_hex(hex, nonce, 32);
	pen_note(&auditor->pen, "log.challenge", "{\"nonce\":\"%s\"}", hex);
}

void
auditor_on_log_seal(struct auditor *auditor, const struct message *message)
{
	const struct msg_log_seal *order = &message->body.log_seal;
	struct message answer = { .type = MSG_LOG_SEALED };
	struct segments segments = { 0 };

	if (!auditor->broker.greeted)
		fatal("breach by broker: LOG_SEAL before BROKER_HELLO");
	if (order->want & SEAL_WANT_ROTATE)
		answer.body.log_sealed.rotated = pen_rotate(&auditor->pen);
	if (order->want & SEAL_WANT_CHALLENGE)
		note_challenge(auditor, order->nonce);
	if (auditor->pen.chain.unsealed > 0 || clock_monotonic_us() > auditor->pen.sealed_us + FRESH_SEAL_US)
		auditor->pen.seal_wanted = true;
	if (order->want & SEAL_WANT_SEGMENTS && segments_list(AUDITOR_LOG_FD, &segments) < 0)
		fatal("the log folder cannot be read");
	/* More than one message can carry on to a client: none, and the folder must be read instead. */
	if (segments.count + 1 > AUDITOR_SEGMENTS)
		segments.count = 0;
	answer.body.log_sealed.request = order->request;
	answer.body.log_sealed.pruned = segments_begin_late(&segments);
	answer.body.log_sealed.segments = segments.count + answer.body.log_sealed.pruned;
	auditor_answer(&auditor->broker, &answer);
	answer_segments(auditor, order->request, &segments);
	segments_free(&segments);
}

/* --- what may be removed --------------------------------------------------------------- */

/*
 * Where the log may begin from now on, or NULL: what was asked for, but the newest record of the
 * broker stays, by which log and database are compared.
 */
static const struct joint *
find_cut(const struct auditor *auditor, const struct msg_log_prune *order)
{
	const struct recent_record *last = recent_find(&auditor->recent, last_sn(auditor));
	uint64_t seq = order->before_seq;

	if (!last)
		return NULL;
	return joints_find(&auditor->joints, last->seq < seq ? last->seq : seq, order->before_us);
}

/* How many of these segments lie before seq. */
static uint64_t
count_before(const struct segments *segments, uint64_t seq)
{
	uint64_t count = 0;

	while (count < segments->count && segments->first_seqs[count] < seq)
		count++;
	return count;
}

/* The auditor removes nothing: it puts on record what may be, and whoever has the right to does it. */
void
auditor_on_log_prune(struct auditor *auditor, const struct message *message)
{
	const struct msg_log_prune *order = &message->body.log_prune;
	struct message answer = { .type = MSG_LOG_PRUNED };
	struct msg_log_pruned *pruned = &answer.body.log_pruned;
	const struct joint *joint = find_cut(auditor, order);
	struct segments segments;
	char body[CUT_BODY];

	if (!auditor->broker.greeted)
		fatal("breach by broker: LOG_PRUNE before BROKER_HELLO");
	if (segments_list(AUDITOR_LOG_FD, &segments) < 0)
		fatal("the log folder cannot be read");
	pruned->request = order->request;
	pruned->segments = joint ? count_before(&segments, joint->cut.seq) : 0;
	if (pruned->segments > 0) {
		pruned->first_seq = joint->cut.seq;
		cut_body(body, &joint->cut, segments.first_seqs[0], pruned->segments);
		pen_note(&auditor->pen, "log.prune", "%s", body);
	}
	segments_free(&segments);
	auditor_answer(&auditor->broker, &answer);
}
