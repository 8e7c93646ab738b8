#ifndef QUORUM_H
#define QUORUM_H

/*
 * Which witnesses are enough together: a tree of groups, each of which holds when so many of its members do, and
 * the file that says so (C2SP tlog-policy).  Nobody is a member twice, so each node knows its one group, and a
 * group stands behind its members.  Pure, fuzzed.
 */
#include <stdbool.h>
#include <stddef.h>

#include "limits.h"

#define QUORUM_WITNESSES 32
#define QUORUM_GROUPS 33 /* 32 of a file and the one of --quorum */
#define QUORUM_LOGS 32
#define QUORUM_NODES (QUORUM_WITNESSES + QUORUM_GROUPS)

struct quorum {
	struct quorum_node {
		unsigned threshold; /* how many members a group needs; 0: this is a witness */
		unsigned witness;   /* its number in the order in which witnesses were added */
		unsigned group;     /* whose member it is; 0, which never is a group: nobody's */
	} nodes[QUORUM_NODES];
	unsigned count, witnesses, groups;
	unsigned top;       /* the node that must hold */
	bool decided;       /* top is known, or nobody is needed */
	bool nobody;        /* "quorum none" */
	char logs[QUORUM_LOGS][LIMIT_ORIGIN]; /* whom the file knows; none: any */
	unsigned log_count;
};

/* One more witness, which nobody has mentioned so far; false when there is no room. */
bool quorum_add_witness(struct quorum *quorum);

/* So many of all that were added (0: all of them); not after quorum_read(). */
void quorum_of_all(struct quorum *quorum, unsigned threshold);

/* Do these hold it?  has: one for each witness. */
bool quorum_is_met(const struct quorum *quorum, const bool has[QUORUM_WITNESSES]);

/* Is this log one of those that the file names, if it names any? */
bool quorum_knows_log(const struct quorum *quorum, const char *origin);

/*
 * A whole file; length bytes and a NUL, which is written over.  The vkey of each witness goes to add(), whose
 * answer ends it when it is not NULL.  NULL, or what is wrong; *line then says where.
 */
const char *quorum_read(struct quorum *quorum, char *text, size_t length,
    const char *(*add)(void *context, const char *vkey), void *context, unsigned *line);

#endif
