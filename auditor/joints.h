#ifndef JOINTS_H
#define JOINTS_H

/* Where segments began, with what a log.prune would say of the lines before: the log can be cut there. */
#include <stddef.h>
#include <stdint.h>

#include "chain.h"

#define JOINTS 1024 /* the newest; older ones are forgotten */

struct joint {
	struct cut cut;
	uint64_t begun_us; /* t of its first line, and of no line before it later */
};

struct joints {
	struct joint ring[JOINTS];
	size_t count; /* ever noted */
};

/* Every line in turn; looks at log.segment alone.  chain: behind the line. */
void joints_note(struct joints *joints, const struct chain *chain, const struct record *record);

/* The newest one with cut.seq <= seq that began at before_us or earlier, or NULL. */
const struct joint *joints_find(const struct joints *joints, uint64_t seq, uint64_t before_us);

#endif
