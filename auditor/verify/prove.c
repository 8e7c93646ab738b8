/* The records of one job with the proof that they are in the log. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base64.h"

#include "prove.h"
#include "strict.h"
#include "verify.h"

#define LEVELS 64

/*
 * One leaf on its way up.  Its left siblings are peaks of the tree before it.  The lines behind
 * it fill its right siblings, lowest first: each is the root over the next 2^level lines, for the
 * levels where the leaf's number has no bit; `right` gathers the one in progress.
 */
struct leaf {
	uint64_t seq;
	char *line;
	size_t length;
	uint8_t siblings[LEVELS][32];
	bool has[LEVELS];
	unsigned level; /* of the right sibling in progress */
	struct tree right;
};

static struct {
	const char *job;
	struct leaf *leaves[PROVE_RECORDS];
	size_t count;
	bool too_many;
	struct tree before; /* over the lines before the one in hand */
	/* The seal that signs the root is no part of it: a line joins when the next one is there. */
	bool has_pending;
	uint8_t pending[32];
	char line[LIMIT_RECORD_BYTES];
} prove;

/* The next level from `from` where the number has no bit. */
static unsigned
next_right(uint64_t seq, unsigned from)
{
	while (from < LEVELS && seq >> from & 1)
		from++;
	return from;
}

/* The left siblings of a leaf: the peaks of the tree before it, the largest first. */
static void
take_left(struct leaf *leaf, const struct tree *before)
{
	int peak = __builtin_popcountll(before->size);

	for (unsigned level = 0; level < LEVELS; level++) {
		if (!(leaf->seq >> level & 1))
			continue;
		memcpy(leaf->siblings[level], before->peaks[--peak], 32);
		leaf->has[level] = true;
	}
}

static void
add_right(struct leaf *leaf, const uint8_t hash[32])
{
	tree_add_leaf(&leaf->right, hash);
	if (leaf->level >= LEVELS || leaf->right.size < UINT64_C(1) << leaf->level)
		return;
	tree_root(&leaf->right, leaf->siblings[leaf->level]);
	leaf->has[leaf->level] = true;
	leaf->right.size = 0;
	leaf->level = next_right(leaf->seq, leaf->level + 1);
}

/* The pending line turned out to be no last one. */
static void
settle_pending(void)
{
	if (!prove.has_pending)
		return;
	for (size_t i = 0; i < prove.count; i++)
		if (prove.leaves[i]->seq != prove.before.size)
			add_right(prove.leaves[i], prove.pending);
	tree_add_leaf(&prove.before, prove.pending);
}

static void
add_leaf(const struct record *record, size_t length)
{
	struct leaf *leaf;

	if (prove.count == PROVE_RECORDS) {
		prove.too_many = true;
		return;
	}
	leaf = calloc(1, sizeof(*leaf));
	if (leaf)
		leaf->line = malloc(length);
	if (!leaf || !leaf->line) {
		prove.too_many = true;
		free(leaf);
		return;
	}
	memcpy(leaf->line, prove.line, length);
	leaf->length = length;
	leaf->seq = record->seq;
	leaf->level = next_right(record->seq, 0);
	take_left(leaf, &prove.before);
	prove.leaves[prove.count++] = leaf;
}

static bool
is_of_job(const struct record *record)
{
	struct scan job;

	return record->source != RECORD_AUDITOR && strict_text(record->body, record->body_length, "job", &job) &&
	    job.left == strlen(prove.job) && memcmp(job.at, prove.job, job.left) == 0;
}

static const char *
follow(void *context, const struct chain *chain, const struct record *record)
{
	size_t length = record_compose(prove.line, record);

	(void)context;
	if (chain_is_anchor(record))
		fwrite(prove.line, 1, length, stdout);
	if (chain->tree.size != record->seq + 1) /* in the anchors */
		return NULL;
	if (strcmp(record->type, "log.segment") == 0 && record->seq == chain->cut.seq)
		prove.before = chain->joint_tree;
	settle_pending();
	if (is_of_job(record))
		add_leaf(record, length);
	tree_leaf(prove.pending, prove.line, length);
	prove.has_pending = true;
	return NULL;
}

void
prove_begin(struct verify *verify, const char *job)
{
	prove.job = job;
	puts(PROVE_MARK);
	verify_watch(verify, follow, NULL);
}

static void
print_path(struct leaf *leaf)
{
	char text[BASE64_SIZE(32)];

	/* What is left at the right edge is smaller than its level, or is not there. */
	if (leaf->right.size > 0) {
		tree_root(&leaf->right, leaf->siblings[leaf->level]);
		leaf->has[leaf->level] = true;
	}
	fwrite(leaf->line, 1, leaf->length, stdout);
	for (unsigned level = 0; level < LEVELS; level++) {
		if (!leaf->has[level])
			continue;
		base64_encode(text, leaf->siblings[level], 32);
		puts(text);
	}
}

bool
prove_end(void)
{
	for (size_t i = 0; i < prove.count; i++)
		print_path(prove.leaves[i]);
	if (prove.count == 0 || prove.too_many)
		fprintf(stderr, "agent-safe-audit-verify: %s\n",
		    prove.too_many ? "the job has too many records" : "the log has no record of this job");
	return prove.count > 0 && !prove.too_many;
}
