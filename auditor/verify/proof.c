/* Checking a proof. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base64.h"
#include "scope.h"

#include "proof.h"
#include "prove.h"

struct proof {
	struct verify *verify;
	uint64_t size;        /* lines that the last seal covers */
	uint64_t records;     /* whose path has led to its root */
	uint64_t last_seq;
	bool climbing;        /* a record's path is in progress */
	uint64_t node, edge;  /* numbers of the node and of the last node at its level */
	uint8_t hash[32];
	FILE *held;           /* the records' lines as they were checked: the file may be another one by the end */
};

/* Is a node alone at the right edge, without a sibling?  Then it moves up as it is. */
static void
skip_edge(struct proof *proof)
{
	while (proof->edge > 0 && proof->node == proof->edge && !(proof->node & 1)) {
		proof->node >>= 1;
		proof->edge >>= 1;
	}
}

/* One hash of the path (RFC 9162 section 2.1.3.2 says the same in other words). */
static const char *
climb(struct proof *proof, const char *text, size_t length)
{
	uint8_t sibling[32];
	size_t decoded;

	if (!proof->climbing || !base64_decode(text, length, sibling, 32, &decoded) || decoded != 32)
		return "proof: a line that is neither a record nor a hash";
	skip_edge(proof);
	if (proof->edge == 0)
		return "proof: more hashes than the path has";
	if (proof->node & 1)
		tree_node(proof->hash, sibling, proof->hash);
	else
		tree_node(proof->hash, proof->hash, sibling);
	proof->node >>= 1;
	proof->edge >>= 1;
	return NULL;
}

static const char *
end_path(struct proof *proof)
{
	if (!proof->climbing)
		return NULL;
	proof->climbing = false;
	skip_edge(proof);
	if (proof->edge > 0 || memcmp(proof->hash, proof->verify->walk.chain.root, 32) != 0)
		return "proof: the path does not lead to the sealed root";
	proof->records++;
	return NULL;
}

static const char *
begin_path(struct proof *proof, const char *line, size_t length, const struct record *record)
{
	const char *why = end_path(proof);

	if (why)
		return why;
	if (proof->records == PROVE_RECORDS)
		return "proof: more records than a job has";
	if (record->seq >= proof->size || (proof->records > 0 && record->seq <= proof->last_seq))
		return "proof: a record out of turn";
	proof->climbing = true;
	proof->last_seq = proof->node = record->seq;
	proof->edge = proof->size - 1;
	tree_leaf(proof->hash, line, length);
	return fwrite(line, 1, length, proof->held) == length ? NULL : "proof: out of memory";
}

/* A line with its newline. */
static const char *
take_line(struct proof *proof, const char *line, size_t length)
{
	struct chain *chain = &proof->verify->walk.chain;
	struct record record;
	const char *why;

	if (line[0] != '{')
		return climb(proof, line, length - 1);
	if (!record_parse(line, length, &record, &why))
		return why;
	if (record.source != RECORD_AUDITOR)
		return begin_path(proof, line, length, &record);
	if (proof->records > 0 || proof->climbing)
		return "proof: a line of the auditor among the records";
	why = chain_take_anchor(chain, line, length, &record);
	if (!why)
		why = proof->verify->walk.each(proof->verify, chain, &record);
	proof->size = record.seq;
	return why;
}

/* The next line with its newline, without one where it is longer than any or the file ends; its length. */
static size_t
next_line(FILE *file, char line[LIMIT_RECORD_BYTES])
{
	size_t length = 0;
	int c;

	while (length < LIMIT_RECORD_BYTES && (c = getc_unlocked(file)) != EOF) {
		line[length++] = (char)c;
		if (c == '\n')
			break;
	}
	return length;
}

static const char *
read_proof(struct proof *proof, FILE *file)
{
	static char line[LIMIT_RECORD_BYTES];
	const char *why = NULL;
	size_t length = next_line(file, line);

	if (length != strlen(PROVE_MARK "\n") || memcmp(line, PROVE_MARK "\n", length) != 0)
		return "not a proof";
	while (!why && (length = next_line(file, line)) > 0)
		why = line[length - 1] == '\n' ? take_line(proof, line, length) : "proof: not complete";
	if (!why && ferror(file))
		why = "proof: it cannot be read to its end";
	if (!why)
		why = end_path(proof);
	return !why && proof->records == 0 ? "proof: no record" : why;
}

void
proof_check(struct verify *verify, const char *path)
{
	scoped_free char *text = NULL;
	size_t length = 0;
	struct proof proof = { .verify = verify };
	FILE *file = fopen(path, "re");
	const char *why;

	if (!file) {
		verify_unreadable(verify, path);
		return;
	}
	proof.held = open_memstream(&text, &length);
	why = proof.held ? read_proof(&proof, file) : "proof: out of memory";
	if (proof.held && fclose(proof.held) == EOF && !why)
		why = "proof: out of memory";
	verify->proven = proof.records;
	verify_end_proof(verify, why);
	if (!why)
		fwrite(text, 1, length, stdout);
	fclose(file);
}
