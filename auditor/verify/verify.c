/* From segments to a verdict. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "text.h"

#include "scan.h"
#include "verify.h"

#define FORKED "the tree differs from a remembered head"

static void
decide(struct verify *verify, enum verdict verdict, const char *word, const char *reason)
{
	verify->verdict = verdict;
	verify->word = word;
	text_copy(verify->reason, sizeof(verify->reason), reason);
}

/* Every line that holds: remembered heads, and what the runs' records say of each other. */
static const char *
follow(void *context, const struct record *record, const uint8_t hash[32])
{
	struct verify *verify = context;
	uint8_t root[32];

	(void)hash;
	if (record->source != RECORD_AUDITOR)
		verify->told++;
	for (size_t i = 0; i < verify->note_count; i++) {
		if (verify->notes[i].size != record->seq + 1)
			continue;
		tree_root(&verify->walk.chain.tree, root);
		if (memcmp(root, verify->notes[i].root, 32) != 0)
			return FORKED;
		verify->notes[i].met = true;
	}
	return dispatch_follow(&verify->dispatch, record);
}

void
verify_begin(struct verify *verify, const char *origin, const uint8_t *key)
{
	walk_begin(&verify->walk, origin, key);
	verify->walk.each = follow;
	verify->walk.context = verify;
}

void
verify_unreadable(struct verify *verify, const char *what)
{
	char reason[256];

	text_format(reason, sizeof(reason), "%.100s: %s", what, strerror(errno));
	decide(verify, VERDICT_UNREADABLE, "unreadable", reason);
}

bool
verify_segment(struct verify *verify, int fd, uint64_t first_seq)
{
	char name[CHAIN_NAME];

	if (walk_segment(&verify->walk, fd, first_seq) == 0)
		return !verify->walk.fault.why;
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

/* All lines hold: is it the whole log? */
static void
decide_end(struct verify *verify, uint64_t now_us)
{
	const struct walk *walk = &verify->walk;

	if (walk->chain.next_seal == 0)
		decide(verify, VERDICT_TAMPERED, "tampered", walk->chain.next_seq == 0 ?
		    "there is no log" : "the log has no seal");
	else if (unmet_note(verify))
		decide(verify, VERDICT_CUT, "truncated", "shorter than a remembered head");
	else if (walk->torn > 0)
		decide(verify, VERDICT_INCOMPLETE, "incomplete", "the last line is not complete");
	else if (walk->chain.at_joint || walk->lines == 0)
		decide(verify, VERDICT_INCOMPLETE, "incomplete", "the last segment is empty");
	else if (walk->chain.unsealed > 0)
		decide(verify, VERDICT_INCOMPLETE, "incomplete", "the last lines are not sealed");
	else if (verify->told == 0)
		decide(verify, VERDICT_INCOMPLETE, "incomplete", "nothing is recorded but the log's own beginning");
	else if (is_stale(verify, now_us))
		decide(verify, VERDICT_INCOMPLETE, "stale", "the last seal is too old: possibly cut");
	else
		decide(verify, VERDICT_OK, "ok", walk->chain.key_known ? "" :
		    "the chain holds; the key it begins with is not known to be the right one");
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
