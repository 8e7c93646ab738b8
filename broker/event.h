#ifndef EVENT_H
#define EVENT_H

/* A record of the broker as an event: for who watches, and for the policy's hooks.  Pure. */
#include "json.h"

#include "letters.h"

/* {"cursor","type","time","data"} into the object; cursor: where to go on reading behind it. */
void event_add(struct json *event, const struct letter *letter);

/*
 * The names it goes by, the closer one first: the end of a run is "job.failed" (the state that the
 * job is in then) and "job.finished".  A list of at most two with NULL behind.
 */
#define EVENT_NAMES 3
void event_names(const struct json *event, char closer[48], const char *names[EVENT_NAMES]);

#endif
