#ifndef LANDLOCK_MATCH_H
#define LANDLOCK_MATCH_H

/*
 * Whose domain was it?  The kernel names who made it by pid and uid, and when it first denied something;
 * the queue knows under which uid each run was, from when until when.  Root's and the system's jobs have
 * an uid that nobody else has at that time; an ordinary user's all have the same.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "landlock_log.h"

struct json;

struct landlock_run {
	const char *job; /* belongs to the list that was read */
	int64_t attempt, uid;
	int64_t started_us, ended_us; /* ended: 0 while it runs */
	bool own_uid; /* nobody else's */
};

struct landlock_runs {
	struct landlock_run *all;
	size_t count;
};

/* Add the attempts of jobs as job.list gives them, which must live as long. */
void landlock_runs_add(struct landlock_runs *runs, const struct json *jobs);
void landlock_runs_free(struct landlock_runs *runs);

/* The next run, from *at on, that this domain may be of; NULL: no other. */
const struct landlock_run *landlock_runs_next(const struct landlock_runs *runs,
    const struct landlock_domain *domain, size_t *at);

#endif
