/* The only pen of the log. */
#include <sys/statvfs.h>

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "log.h"
#include "loop.h"

#include "pen.h"

#define HEARTBEAT_US (CHAIN_HEARTBEAT_SECONDS * UINT64_C(1000000))
#define DAY_US UINT64_C(86400000000)
#define NOTE_BYTES 1024

/*
 * A line of these types is sealed in its commit: nobody is answered before the seal is durable.  A
 * cosignature is about a seal: sealed at once it would make the next one to be cosigned.
 */
static bool
wants_seal(const struct record *record)
{
	return (record->source == RECORD_AUDITOR && strcmp(record->type, "log.cosign") != 0) ||
	    strcmp(record->type, "exec.intent") == 0 || strcmp(record->type, "job.approved") == 0;
}

/* Compose the line behind what is gathered and take it through the chain. */
static const char *
add_line(struct pen *pen, struct record *record)
{
	char *line = pen->bytes + pen->length;
	const char *why;
	size_t length;

	if (sizeof(pen->bytes) - pen->length < LIMIT_RECORD_BYTES)
		fatal("pen: more than fits was gathered");
	record->seq = pen->chain.next_seq;
	record->sn = pen->chain.next_sn[record->source];
	memcpy(record->prev, pen->chain.head, sizeof(record->prev));
	length = record_compose(line, record);
	if (length == 0)
		return "line is too long";
	why = chain_take(&pen->chain, line, length, record);
	if (why)
		return why;
	pen->length += length;
	why = pen->each ? pen->each(pen->context, &pen->chain, record) : NULL;
	if (why)
		fatal("pen: %s", why);
	return NULL;
}

const char *
pen_write(struct pen *pen, enum record_source source, const char *type, const char *body, size_t length,
    uint64_t *seq, uint8_t hash[32])
{
	struct record record = { .source = source, .body = body, .body_length = length };
	uint64_t unsealed = pen->chain.unsealed;
	const char *why;

	if (snprintf(record.type, sizeof(record.type), "%s", type) >= (int)sizeof(record.type))
		return "type is too long";
	record_time(record.time, clock_realtime_us());
	why = add_line(pen, &record);
	if (why)
		return why;
	if (unsealed == 0)
		pen->unsealed_us = clock_monotonic_us();
	pen->seal_wanted |= wants_seal(&record);
	if (seq)
		*seq = record.seq;
	if (hash)
		memcpy(hash, pen->chain.head, 32);
	return NULL;
}

void
pen_note(struct pen *pen, const char *type, const char *format, ...)
{
	char body[NOTE_BYTES];
	const char *why;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(body, sizeof(body), format, arguments);
	va_end(arguments);
	if (length < 0 || (size_t)length >= sizeof(body))
		fatal("pen: %s is too long", type);
	why = pen_write(pen, RECORD_AUDITOR, type, body, (size_t)length, NULL, NULL);
	if (why)
		fatal("pen: %s: %s", type, why);
}

bool
pen_has_room(const struct pen *pen)
{
	return pen->chain.unsealed < PEN_LINES && pen->length < 1u << 20;
}

static void
add_seal(struct pen *pen)
{
	struct record record = { .source = RECORD_AUDITOR, .type = "log.seal" };
	char text[CHAIN_SEAL_TEXT], body[512];
	uint8_t next[32], signature[64];
	const char *why;

	record_time(record.time, clock_realtime_us());
	sign_next_public(&pen->sign, next);
	sign_seal(&pen->sign, text, chain_seal_text(&pen->chain, record.time, next, text), signature);
	record.body = body;
	record.body_length = chain_seal_body(&pen->chain, body, sizeof(body), next, signature);
	why = add_line(pen, &record);
	if (why)
		fatal("pen: seal %" PRIu64 ": %s", pen->sign.number, why);
}

static bool
is_seal_due(const struct pen *pen)
{
	uint64_t now = clock_monotonic_us();

	return pen->seal_wanted || pen->chain.unsealed >= PEN_LINES ||
	    (pen->chain.unsealed > 0 && now >= pen->unsealed_us + PEN_SEAL_US) ||
	    now >= pen->sealed_us + HEARTBEAT_US;
}

/* The gathered bytes into the open segment, or as a new one, which is durable at once. */
void
pen_write_out(struct pen *pen)
{
	int result;

	if (pen->length == 0)
		return;
	result = pen->fresh ?
	    journal_create(&pen->journal, pen->log_fd, pen->journal.first_seq, pen->bytes, pen->length) :
	    journal_append(&pen->journal, pen->bytes, pen->length);
	if (result < 0 && errno == ESTALE)
		fatal("the open segment was changed from outside: it is not written any more");
	if (result < 0)
		fatal("the log cannot be written: %s", strerror(errno));
	pen->fresh = false;
	pen->length = 0;
}

bool
pen_commit(struct pen *pen)
{
	bool sealed = is_seal_due(pen);

	if (sealed) {
		add_seal(pen);
		if (sign_step(&pen->sign) < 0)
			fatal("key.state cannot be written: %s", strerror(errno));
	}
	pen_write_out(pen);
	if (journal_sync(&pen->journal) < 0)
		fatal("the log cannot be written: %s", strerror(errno));
	if (sealed) {
		if (sign_settle(&pen->sign) < 0)
			fatal("key.state cannot be synced: %s", strerror(errno));
		pen->seal_wanted = false;
		pen->sealed_us = clock_monotonic_us();
	}
	return sealed;
}

uint64_t
pen_deadline(const struct pen *pen)
{
	return pen->chain.unsealed > 0 ? pen->unsealed_us + PEN_SEAL_US : pen->sealed_us + HEARTBEAT_US;
}

void
pen_begin_segment(struct pen *pen, const struct chain_joint *joint)
{
	char body[256];

	if (pen->length > 0 || pen->journal.behind)
		fatal("pen: a segment begins inside a commit");
	pen->fresh = true;
	pen->journal.first_seq = pen->chain.next_seq;
	chain_join(&pen->chain, joint);
	chain_segment_body(body, sizeof(body), joint);
	pen_note(pen, "log.segment", "%s", body);
}

/* A new segment needs its reserve at once: begin none when that may fail. */
static bool
has_space_for_segment(const struct pen *pen)
{
	struct statvfs st;

	return fstatvfs(pen->journal.fd, &st) == 0 && st.f_bavail * st.f_frsize >= 2 * JOURNAL_RESERVE_BYTES;
}

static void
tell_space(struct pen *pen, bool low)
{
	pen->low = low;
	log_warn(low ? "space for the log is low: no new run is permitted" : "space for the log is back");
	pen_note(pen, "log.space", "{\"state\":\"%s\",\"room\":%" PRIu64 "}", low ? "low" : "normal",
	    journal_room(&pen->journal));
}

bool
pen_rotate(struct pen *pen)
{
	struct chain_joint joint = { .first_seq = pen->journal.first_seq };

	if (pen->length > 0 || pen->journal.behind)
		pen_commit(pen);
	if (pen->low || !has_space_for_segment(pen))
		return false;
	pen_begin_segment(pen, &joint);
	pen_commit(pen);
	return true;
}

bool
pen_is_of_today(const struct chain *chain)
{
	return clock_realtime_us() / DAY_US <= record_time_us(chain->sealed) / DAY_US;
}

void
pen_tend(struct pen *pen)
{
	bool low = !journal_reserve(&pen->journal);

	if (low != pen->low)
		tell_space(pen, low);
	if (pen->length > 0)
		pen_commit(pen);
	if (pen->journal.size >= JOURNAL_SEGMENT_BYTES || !pen_is_of_today(&pen->chain))
		pen_rotate(pen);
}

void
pen_close(struct pen *pen)
{
	if (pen->chain.unsealed > 0) {
		pen->seal_wanted = true;
		pen_commit(pen);
	}
	sign_close(&pen->sign);
	journal_close(&pen->journal);
}
