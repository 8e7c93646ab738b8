#ifndef QUARANTINE_H
#define QUARANTINE_H

/*
 * What a job has done to protected paths: said in lines, and put out of the way.  The caller stands under the
 * job's filesystem ids; whoever is told stands under our own.
 */
#include "identity.h"

#define QUARANTINE_LINES 64 /* what is put away beyond is only counted: each line is synced to the disk */

/* Told about violations, before and after something is done about them; one line, no newline. */
typedef void quarantine_tell(void *context, const char *line);

struct quarantine {
	const struct identity *job;
	const char *run; /* "uuid.attempt": the end of new names */
	quarantine_tell *tell;
	void *context;
	unsigned violations;
};

/* A name may hold anything: what would end the line or steer a terminal becomes "?". */
void quarantine_clean(char *line);

/* One line about a path, which is no violation by itself. */
void quarantine_say(const struct quarantine *quarantine, const char *path, const char *name, const char *what,
    const char *more);

/*
 * A violation: `last` in the directory is renamed to LAST.agent-safe-quarantine-RUN in the same directory,
 * never over something else and through no link.  path and name: how it is called in the line.
 */
void quarantine_put_away(struct quarantine *quarantine, int directory, const char *path, const char *name,
    const char *last);

#endif
