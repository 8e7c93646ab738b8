/* What must stay of lines that are to be removed. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "remains.h"
#include "verify.h"

static struct {
	uint64_t seq;
	bool found;
	char line[LIMIT_RECORD_BYTES];
} remains;

static void
print_anchor(const struct chain *chain, const struct record *record)
{
	struct cut cut = chain_cut_before(chain, record);

	/* The record itself is behind the last seal already. */
	fwrite(remains.line, 1, cut_anchor(remains.line, &cut, chain->unsealed - 1, &chain->joint_tree), stdout);
	remains.found = true;
}

static const char *
keep(void *context, const struct chain *chain, const struct record *record)
{
	(void)context;
	if (record->seq == remains.seq && strcmp(record->type, "log.segment") == 0)
		print_anchor(chain, record);
	if (record->seq < remains.seq && chain_is_anchor(record))
		/* The canonical form has one writing: these are the bytes that were read. */
		fwrite(remains.line, 1, record_compose(remains.line, record), stdout);
	return NULL;
}

void
remains_begin(struct verify *verify, uint64_t seq)
{
	remains.seq = seq;
	verify_watch(verify, keep, NULL);
}

bool
remains_end(void)
{
	if (!remains.found)
		fprintf(stderr, "agent-safe-audit-verify: no segment begins with %" PRIu64 "\n", remains.seq);
	return remains.found;
}
