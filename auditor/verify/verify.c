/* From segments to a verdict. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

#include "scan.h"
#include "segments.h"
#include "verify.h"

#define FORKED "the tree differs from a remembered head"

static void
decide(struct verify *verify, enum verdict verdict, const char *word, const char *reason)
{
	verify->verdict = verdict;
	verify->word = word;
	text_copy(verify->reason, sizeof(verify->reason), reason);
}

/*
 * What was remembered of the log's size at this line.  In the anchors the tree is not known, but
 * what each seal says of the lines before it.
 */
static const char *
compare_notes(struct verify *verify, const struct chain *chain, const struct record *record)
{
	bool in_anchors = chain->tree.size != record->seq + 1;
	uint64_t size = in_anchors ? record->seq : record->seq + 1;
	uint8_t root[32];

	for (size_t i = 0; i < verify->note_count; i++) {
		if (verify->notes[i].size != size)
			continue;
		tree_root(&chain->tree, root);
		if (memcmp(in_anchors ? chain->root : root, verify->notes[i].root, 32) != 0)
			return FORKED;
		verify->notes[i].met = true;
	}
	return NULL;
}

static bool
is_answer(const struct record *record, const char *nonce)
{
	struct scan scan = { record->body, record->body_length };

	return strcmp(record->type, "log.challenge") == 0 && scan_literal(&scan, "{\"nonce\":\"") &&
	    scan_literal(&scan, nonce) && scan_literal(&scan, "\"}") && scan.left == 0;
}

/* Every line that holds: remembered heads, and what the runs' records say of each other. */
static const char *
follow(void *context, const struct chain *chain, const struct record *record)
{
	struct verify *verify = context;
	const char *why = compare_notes(verify, chain, record);

	if (record->source != RECORD_AUDITOR)
		verify->told++;
	if (verify->challenge && is_answer(record, verify->challenge))
		verify->answered = true;
	seals_note(&verify->seals, chain, record);
	if (!why)
		why = dispatch_follow(&verify->dispatch, record);
	for (size_t i = 0; !why && i < verify->watch_count; i++)
		why = verify->watches[i].each(verify->watches[i].context, chain, record);
	return why;
}

void
verify_watch(struct verify *verify,
    const char *(*each)(void *context, const struct chain *chain, const struct record *record), void *context)
{
	/* A constant number of callers: more than fit is a mistake of ours. */
	if (verify->watch_count == VERIFY_WATCHES)
		abort();
	verify->watches[verify->watch_count++] = (struct verify_watch){ each, context };
}

void
verify_begin(struct verify *verify, const char *origin, const uint8_t *key)
{
	walk_begin(&verify->walk, origin, key);
	verify->walk.limit = verify->size;
	verify->walk.each = follow;
	verify->walk.context = verify;
}

void
verify_trust_operator(struct verify *verify, const uint8_t key[32])
{
	memcpy(verify->walk.chain.operator_key, key, 32);
	verify->walk.chain.operator_known = true;
}

void
verify_unreadable(struct verify *verify, const char *what)
{
	char reason[256];

	text_format(reason, sizeof(reason), "%.100s: %s", what, segments_why(errno));
	decide(verify, VERDICT_UNREADABLE, "unreadable", reason);
}

bool
verify_anchors(struct verify *verify, int fd)
{
	if (walk_anchors(&verify->walk, fd) == 0)
		return !verify->walk.fault.why;
	verify_unreadable(verify, "anchors.jsonl");
	return false;
}

bool
verify_segment(struct verify *verify, int fd, uint64_t first_seq)
{
	char name[CHAIN_NAME];

	if (walk_segment(&verify->walk, fd, first_seq) == 0)
		return !verify->walk.fault.why && (verify->size == 0 || verify->walk.chain.next_seq < verify->size);
	chain_segment_name(name, verify->walk.segment);
	verify_unreadable(verify, name);
	return false;
}

static bool
is_stale(const struct verify *verify, uint64_t now_us)
{
	uint64_t sealed_us = record_time_us(verify->walk.chain.sealed);

	return verify->max_age_seconds > 0 && sealed_us < now_us &&
	    (now_us - sealed_us) / 1000000 > verify->max_age_seconds;
}

static const struct verify_note *
unmet_note(const struct verify *verify)
{
	for (size_t i = 0; i < verify->note_count; i++)
		if (verify->notes[i].size > verify->walk.chain.next_seq)
			return &verify->notes[i];
	return NULL;
}

static bool
is_note_removed(const struct verify *verify)
{
	for (size_t i = 0; i < verify->note_count; i++)
		if (!verify->notes[i].met)
			return true;
	return false;
}

static const char *
describe_key(const struct verify *verify)
{
	return verify->walk.chain.key_known ? "" :
	    "the chain holds; the key it begins with is not known to be the right one";
}

/* Whoever has cut a log could continue it with a key of his own, but for the operator's signature. */
static void
decide_unproven(struct verify *verify)
{
	char reason[128];

	text_format(reason, sizeof(reason), "line %" PRIu64 " gives the log a new key; only the operator's key can "
	    "tell by whose will: --operator-key", verify->walk.chain.unproven_seq);
	decide(verify, VERDICT_INCOMPLETE, "incomplete", reason);
}

/* All lines hold: is it the whole log? */
static void
decide_end(struct verify *verify, uint64_t now_us)
{
	const struct walk *walk = &verify->walk;

	if (walk->chain.cut.seq > 0 && !walk->chain.cut_told)
		decide(verify, VERDICT_TAMPERED, "tampered", "the beginning was removed and no log.prune tells it");
	else if (walk->chain.next_seal == 0)
		decide(verify, VERDICT_TAMPERED, "tampered", walk->chain.next_seq == 0 ?
		    "there is no log" : "the log has no seal");
	else if (walk->chain.next_seq < verify->size)
		decide(verify, VERDICT_CUT, "truncated", "shorter than its head was");
	else if (unmet_note(verify))
		decide(verify, VERDICT_CUT, "truncated", "shorter than a remembered head");
	else if (is_note_removed(verify))
		decide(verify, VERDICT_INCOMPLETE, "incomplete",
		    "a remembered head lies in what was removed, at no seal");
	else if (walk->torn > 0)
		decide(verify, VERDICT_INCOMPLETE, "incomplete", "the last line is not complete");
	else if (walk->chain.at_joint || walk->lines == 0)
		decide(verify, VERDICT_INCOMPLETE, "incomplete", "the last segment is empty");
	else if (walk->chain.unsealed > 0)
		decide(verify, VERDICT_INCOMPLETE, "incomplete", "the last lines are not sealed");
	else if (verify->challenge && !verify->answered)
		decide(verify, VERDICT_INCOMPLETE, "incomplete",
		    "the challenge is not in it: another log, or possibly cut");
	else if (verify->told == 0)
		decide(verify, VERDICT_INCOMPLETE, "incomplete", "nothing is recorded but the log's own beginning");
	else if (walk->chain.unproven_seq > 0)
		decide_unproven(verify);
	else if (is_stale(verify, now_us))
		decide(verify, VERDICT_INCOMPLETE, "stale", "the last seal is too old: possibly cut");
	else
		decide(verify, VERDICT_OK, "ok", describe_key(verify));
}

void
verify_unwitnessed(struct verify *verify)
{
	if (verify->verdict == VERDICT_OK)
		decide(verify, VERDICT_INCOMPLETE, "unwitnessed",
		    "no quorum of the given witnesses has cosigned any of it");
}

void
verify_end_proof(struct verify *verify, const char *why)
{
	if (why && strcmp(why, FORKED) == 0)
		decide(verify, VERDICT_CUT, "forked", why);
	else if (why)
		decide(verify, VERDICT_TAMPERED, "tampered", why);
	else if (verify->walk.chain.unproven_seq > 0)
		decide_unproven(verify);
	else if (unmet_note(verify) || is_note_removed(verify))
		decide(verify, VERDICT_INCOMPLETE, "incomplete", "no seal of the proof is the remembered head");
	else
		decide(verify, VERDICT_OK, "ok", describe_key(verify));
}

void
verify_end(struct verify *verify, uint64_t now_us)
{
	const struct walk_fault *fault = &verify->walk.fault;

	if (verify->verdict == VERDICT_UNREADABLE)
		return;
	walk_end(&verify->walk);
	if (!fault->why)
		decide_end(verify, now_us);
	else if (strcmp(fault->why, FORKED) == 0)
		decide(verify, VERDICT_CUT, "forked", fault->why);
	else
		decide(verify, VERDICT_TAMPERED, "tampered", fault->why);
}

bool
verify_read_note(struct verify_note *note, const char *text, size_t length)
{
	struct scan scan = { text, length };

	*note = (struct verify_note){ 0 };
	return scan_decimal(&scan, &note->size) && scan_literal(&scan, "\n") &&
	    scan_base64(&scan, note->root, 32) && scan_literal(&scan, "\n") && note->size > 0;
}
