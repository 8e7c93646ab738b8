/* Whose domain was it? */
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "log.h"
#include "scope.h"
#include "text.h"

#include "landlock_match.h"

/* The kernel's times are those of its last tick, at most 10 ms ago; a denial is told within the run. */
#define TICK_US 10000

/* "1796001962.669301": as text they are exact.  0: not that, or null. */
static int64_t
micros(const struct json *seconds)
{
	scoped_free char *text = json_print(seconds, NULL);
	char *point = strchr(text, '.');
	uint64_t second, micro = 0;

	if (point) {
		*point++ = '\0';
		while (point[0] == '0' && point[1] != '\0')
			point++;
		if (!text_number(point, 999999, &micro))
			return 0;
	}
	return text_number(text, UINT32_MAX, &second) ? (int64_t)(second * 1000000 + micro) : 0;
}

static bool
lists(const struct json *names, const char *name)
{
	for (size_t i = 0; i < json_count(names); i++) {
		const char *one = json_text(json_at(names, i));

		if (one && strcmp(one, name) == 0)
			return true;
	}
	return false;
}

static void
add_attempt(struct landlock_runs *runs, const char *job, const struct json *attempt)
{
	struct landlock_run run = { .job = job, .own_uid = lists(json_get(attempt, "layers"), "own_uid") }, *grown;

	run.started_us = micros(json_get(attempt, "started_at"));
	run.ended_us = micros(json_get(attempt, "ended_at"));
	if (!job || run.started_us == 0 || !json_integer(json_get(attempt, "attempt"), &run.attempt) ||
	    !json_integer(json_get(attempt, "uid"), &run.uid))
		return;
	grown = realloc(runs->all, (runs->count + 1) * sizeof(*grown));
	if (!grown)
		fatal("out of memory");
	grown[runs->count++] = run;
	runs->all = grown;
}

void
landlock_runs_add(struct landlock_runs *runs, const struct json *jobs)
{
	for (size_t i = 0; i < json_count(jobs); i++) {
		const struct json *attempts = json_get(json_at(jobs, i), "attempts_log");

		for (size_t at = 0; at < json_count(attempts); at++)
			add_attempt(runs, json_text(json_get(json_at(jobs, i), "id")), json_at(attempts, at));
	}
}

void
landlock_runs_free(struct landlock_runs *runs)
{
	free(runs->all);
	*runs = (struct landlock_runs){ NULL, 0 };
}

const struct landlock_run *
landlock_runs_next(const struct landlock_runs *runs, const struct landlock_domain *domain, size_t *at)
{
	while (domain->maker == MAKER_JOB && *at < runs->count) {
		const struct landlock_run *run = &runs->all[(*at)++];

		if ((uint64_t)run->uid == domain->uid && domain->first_us >= run->started_us - TICK_US &&
		    (run->ended_us == 0 || domain->first_us <= run->ended_us + TICK_US))
			return run;
	}
	return NULL;
}
