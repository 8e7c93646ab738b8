/*
 * events.read: what is on record, from a cursor on.  The events are the broker's own records, kept
 * for a week after they were written to the log; the log has them for ever.
 */
#include <stdlib.h>
#include <string.h>

#include "limits.h"
#include "log.h"
#include "text.h"

#include "broker.h"
#include "event.h"
#include "methods.h"
#include "params.h"
#include "present.h"

#define PAGE_BYTES (LIMIT_LINE_BYTES / 2)

/* Only what the peer may see: its own jobs' events, or all of them. */
static bool
is_visible(struct operation *operation, const struct letter *letter)
{
	const struct client *client = operation->client;
	struct job job;
	bool visible;

	if (client->control || client->uid == 0)
		return true;
	visible = letter->job > 0 && jobs_by_seq(operation->broker->store, letter->job, &job);
	if (visible) {
		visible = client_sees(client, job.submitter_uid);
		jobs_free(&job);
	}
	return visible;
}

/* Durable ones only, in order; *cursor is behind the last that was looked at. */
static void
add_events(struct operation *operation, struct json *events, uint64_t *cursor, int64_t limit)
{
	struct broker *broker = operation->broker;
	struct letter letter;
	size_t bytes = 0;

	while ((int64_t)json_count(events) < limit && bytes < PAGE_BYTES &&
	    outbox_is_settled(&broker->outbox, *cursor) &&
	    letters_from(broker->store, *cursor, &letter)) {
		if (is_visible(operation, &letter)) {
			event_add(json_add_object(events, NULL), &letter);
			bytes += letter.d.length + 100;
		}
		*cursor = letter.sn + 1;
		letters_free(&letter);
	}
}

/* With what there is, or when there is something, or when the time is over. */
static void
answer_events(struct operation *operation)
{
	struct broker *broker = operation->broker;
	struct json *answer = json_object(), *events = json_add_array(answer, "events");
	uint64_t from = operation->cursor;
	int64_t limit = 100;

	json_integer(json_get(operation->request.params, "limit"), &limit);
	json_add_boolean(answer, "gap", letters_first(broker->store) > from);
	add_events(operation, events, &operation->cursor, limit);
	if (json_count(events) == 0 && clock_monotonic_us() < operation->deadline_us) {
		json_free(answer);
		/* Records are settled in order: the next one wakes us. */
		operation->sn = operation->cursor;
		operation_await(operation, WAIT_EVENT, answer_events);
		return;
	}
	json_add_integer(answer, "next_cursor", (int64_t)operation->cursor);
	operation_answer(operation, answer);
}

void
method_events_read(struct operation *operation)
{
	static const char *const names[] = { "cursor", "limit", "timeout_ms", NULL };
	int64_t cursor, limit, timeout_ms;
	struct broker *broker = operation->broker;

	if (!params_known(operation, names, false) ||
	    !params_integer(operation, "cursor", 0, INT64_MAX, -1, &cursor) ||
	    !params_integer(operation, "limit", 1, 1000, 100, &limit) ||
	    !params_integer(operation, "timeout_ms", 0, 600000, 0, &timeout_ms))
		return;
	/* Without a cursor: from now on. */
	operation->cursor = cursor >= 0 ? (uint64_t)cursor : broker->outbox.next_sn;
	if (operation->cursor > broker->outbox.next_sn) {
		operation_refuse(operation, "invalid_input", "cursor must be one that events.read gave");
		return;
	}
	operation->deadline_us = clock_monotonic_us() + (uint64_t)timeout_ms * 1000;
	answer_events(operation);
}
