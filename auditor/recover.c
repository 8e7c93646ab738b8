/* The start of the pen. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base64.h"
#include "log.h"
#include "loop.h"
#include "scope.h"
#include "text.h"

#include "recover.h"
#include "renew.h"
#include "segments.h"

/* A segment that was left in good order is written on until it has this size, or the day is over. */
#define CONTINUE_BYTES (1u << 20)

#define ADVICE "; keep both folders as they are and see agent-safe-audit(7), RECOVERY"

/* What the kernel still holds back goes to the disk, and what we read comes from there. */
static void
read_from_disk(int fd, uint64_t first_seq)
{
	if (fdatasync(fd) < 0)
		fatal("segment %" PRIu64 " cannot be synced: %s", first_seq, strerror(errno));
	if (posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0)
		log_warn("segment %" PRIu64 ": read from memory, not from the disk", first_seq);
}

/* What is left of a beginning that was removed. */
static void
walk_removed(struct walk *walk, int log_fd, const struct segments *segments)
{
	scoped_close int fd = -1;

	if (!segments_begin_late(segments))
		return;
	fd = segments_open(log_fd, UINT64_MAX);
	if (fd < 0 || walk_anchors(walk, fd) < 0)
		fatal(SEGMENTS_ANCHORS " cannot be read: %s", segments_why(errno));
}

static void
walk_all(struct walk *walk, int log_fd, const struct segments *segments)
{
	walk_removed(walk, log_fd, segments);
	for (size_t i = 0; i < segments->count && !walk->fault.why; i++) {
		uint64_t first_seq = segments->first_seqs[i];
		scoped_close int fd = segments_open(log_fd, first_seq);

		if (fd < 0)
			fatal("segment %" PRIu64 " cannot be opened: %s", first_seq, segments_why(errno));
		if (i + 1 == segments->count)
			read_from_disk(fd, first_seq);
		if (walk_segment(walk, fd, first_seq) < 0)
			fatal("segment %" PRIu64 " cannot be read: %s", first_seq, strerror(errno));
	}
}

static _Noreturn void
refuse_fault(const struct walk_fault *fault)
{
	fatal("the log does not verify: %s%" PRIu64 " line %" PRIu64 " byte %" PRIu64 ": %s" ADVICE,
	    fault->anchors ? SEGMENTS_ANCHORS " of segment " : "segment ", fault->segment, fault->line,
	    fault->offset, fault->why);
}

/* The public half of what a verifier needs, for whoever wants to take it away: "<origin> <key>". */
static void
publish_trust(const struct pen *pen)
{
	char line[LIMIT_ORIGIN + 64], key[BASE64_SIZE(32)];

	if (faccessat(pen->log_fd, "trust", F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return;
	base64_encode(key, pen->chain.genesis_key, 32);
	text_format(line, sizeof(line), "%s %s\n", pen->chain.origin, key);
	if (journal_publish(pen->log_fd, "trust", line, strlen(line)) < 0)
		fatal("the trust file cannot be written: %s", strerror(errno));
}

static void
begin_log(struct pen *pen, int key_fd, const char *origin)
{
	char body[LIMIT_ORIGIN + 128];
	const char *why;
	uint8_t key[32];

	/* A key that is there has begun a log and crashed before its first line, or the log is gone. */
	if (pen->sign.fd < 0 && sign_create(&pen->sign, key_fd) < 0)
		fatal("key.state cannot be made: %s", strerror(errno));
	why = sign_resume(&pen->sign, 0, NULL);
	if (why)
		fatal("there is no log, but a key that has signed one: %s" ADVICE, why);
	sign_public(&pen->sign, key);
	chain_begin(&pen->chain, origin, key);
	chain_genesis_body(body, sizeof(body), origin, key);
	pen->fresh = true;
	pen->journal.first_seq = 0;
	pen_note(pen, "log.genesis", "%s", body);
	pen_commit(pen);
	log_info("a new log begins: %s", origin);
}

/* A segment with the operator's statement, before anything that the new key seals. */
static void
note_rekey(struct pen *pen, const struct rekey *rekey)
{
	char body[REKEY_BODY];

	rekey_body(rekey, body);
	pen_note(pen, "log.rekey", "%s", body);
}

/*
 * Torn bytes or lines without a seal: the last stop was none in good order.  rekey: the operator's
 * statement, when the key was lost.
 */
static void
continue_log(struct pen *pen, const struct walk *walk, const struct rekey *rekey)
{
	struct chain_joint joint = { .first_seq = walk->segment, .torn = walk->torn };
	bool unclean = walk->torn > 0 || walk->chain.unsealed > 0;

	memcpy(joint.torn_sha256, walk->torn_sha256, sizeof(joint.torn_sha256));
	if (!unclean && !rekey && !walk->compressed && walk->good_bytes < CONTINUE_BYTES &&
	    pen_is_of_today(&walk->chain)) {
		if (journal_open(&pen->journal, pen->log_fd, walk->segment) < 0)
			fatal("segment %" PRIu64 " cannot be opened: %s", walk->segment, strerror(errno));
		return;
	}
	pen_begin_segment(pen, &joint);
	if (rekey)
		note_rekey(pen, rekey);
	if (unclean) {
		log_warn("the last stop was none in good order: %" PRIu64 " lines without a seal kept, %" PRIu64
		    " torn bytes declared", walk->chain.unsealed, walk->torn);
		pen_note(pen, "log.recover",
		    "{\"reason\":\"unclean_stop\",\"unsealed\":%" PRIu64 ",\"torn\":%" PRIu64 "}",
		    walk->chain.unsealed, walk->torn);
	}
	pen_commit(pen);
}

static void
resume_log(struct pen *pen, struct walk *walk, const struct segments *segments, int key_fd, const char *origin)
{
	struct rekey rekey, *renewed = NULL;
	const char *why;

	walk_begin(walk, origin, NULL);
	walk->each = pen->each;
	walk->context = pen->context;
	walk_all(walk, pen->log_fd, segments);
	if (walk->fault.why)
		refuse_fault(&walk->fault);
	if (walk->chain.cut.seq > 0 && !walk->chain.cut_told)
		fatal("the beginning of the log was removed and no log.prune tells it" ADVICE);
	/* Not even a first seal: this is not what a crash leaves, segments appear with theirs. */
	if (walk->chain.next_seal == 0 || walk->lines == 0)
		fatal("segment %" PRIu64 " has not one good line" ADVICE, walk->segment);
	why = sign_resume(&pen->sign, walk->chain.next_seal, walk->chain.key);
	if (why && renew(pen, &walk->chain, key_fd, &rekey))
		renewed = &rekey;
	else if (why)
		fatal("log (%" PRIu64 " lines, %" PRIu64 " seals) and key.state disagree: %s" ADVICE,
		    walk->chain.next_seq, walk->chain.next_seal, why);
	pen->chain = walk->chain;
	continue_log(pen, walk, renewed);
}

/* What others may read they may have: nobody should find that out by chance. */
static void
check_key(const struct sign *sign)
{
	const char *why = sign->fd < 0 ? NULL : sign_judge_file(sign->fd);

	if (why)
		fatal("key.state: %s" ADVICE, why);
}

void
recover(struct pen *pen, struct walk *walk, int log_fd, int key_fd, const char *origin)
{
	struct segments segments;

	pen->log_fd = log_fd;
	pen->journal.fd = -1;
	pen->sealed_us = clock_monotonic_us();
	if (sign_open(&pen->sign, key_fd) < 0)
		fatal("key.state: %s", errno == EWOULDBLOCK ? "another auditor holds it" : segments_why(errno));
	check_key(&pen->sign);
	if (segments_list(log_fd, &segments) < 0)
		fatal("the log folder cannot be read: %s", strerror(errno));
	for (size_t i = 0; i < segments.stranger_count; i++)
		log_warn("not part of the log: %s", segments.strangers[i]);
	if (segments.count == 0)
		begin_log(pen, key_fd, origin);
	else
		resume_log(pen, walk, &segments, key_fd, origin);
	segments_free(&segments);
	/* At every start from then on: nobody should have to look for it. */
	if (pen->chain.rekeys > 0)
		log_warn("this log has lost its key %" PRIu64 " times and was continued on the operator's word",
		    pen->chain.rekeys);
	publish_trust(pen);
}

/* --- one line of the past ---------------------------------------------------- */

struct wanted {
	uint64_t seq;
	const uint8_t *hash;
	bool met;
};

static const char *
compare(void *context, const struct chain *chain, const struct record *record)
{
	struct wanted *wanted = context;

	if (record->seq == wanted->seq && memcmp(chain->head, wanted->hash, 32) == 0)
		wanted->met = true;
	return NULL;
}

bool
recover_line_is(struct walk *walk, int log_fd, const char *origin, uint64_t seq, const uint8_t hash[32])
{
	struct wanted wanted = { .seq = seq, .hash = hash };
	struct segments segments;

	if (segments_list(log_fd, &segments) < 0)
		fatal("the log folder cannot be read: %s", strerror(errno));
	walk_begin(walk, origin, NULL);
	walk->each = compare;
	walk->context = &wanted;
	walk_removed(walk, log_fd, &segments);
	for (size_t i = 0; i < segments.count && !walk->fault.why; i++) {
		scoped_close int fd = segments_open(log_fd, segments.first_seqs[i]);

		if (fd < 0 || walk_segment(walk, fd, segments.first_seqs[i]) < 0)
			fatal("the log cannot be read: %s", strerror(errno));
	}
	segments_free(&segments);
	return wanted.met;
}
