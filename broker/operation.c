/* One request on its way to an answer. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "limits.h"
#include "log.h"
#include "text.h"

#include "assess.h"
#include "broker.h"
#include "submission.h"

static const struct method {
	const char *text;
	bool control_only;
	void (*call)(struct operation *operation);
} methods[] = {
#define BOTH(text, name) { text, false, method_##name },
#define CONTROL(text, name) { text, true, method_##name },
#include "methods.def"
};

static const struct method *
find_method(const char *name)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if (strcmp(methods[i].text, name) == 0)
			return &methods[i];
	return NULL;
}

/* The last in the row.  Takes request and descriptor. */
static struct operation *
add_operation(struct broker *broker, struct client *client, struct rpc_request *request,
    int descriptor)
{
	struct operation *operation = bytes_make(sizeof(*operation)), **end = &broker->operations;

	*operation = (struct operation){ .broker = broker, .client = client, .request = *request,
	    .descriptor = descriptor };
	memset(request, 0, sizeof(*request));
	while (*end)
		end = &(*end)->next;
	*end = operation;
	return operation;
}

void
operation_begin(struct broker *broker, struct client *client, struct rpc_request *request,
    int descriptor)
{
	const struct method *method = find_method(request->method);
	struct operation *operation = add_operation(broker, client, request, descriptor);

	client->operation = operation;
	if (!method)
		operation_refuse(operation, "invalid_input", "there is no such method");
	else if (method->control_only && !client->control)
		operation_refuse(operation, "not_permitted", "%s is only answered on control.sock",
		    method->text);
	else
		method->call(operation);
}

static struct rpc_request
own_request(const char *method, const char *worker)
{
	struct rpc_request request = { .message = json_object() };
	struct json *params;

	json_add_text(request.message, "method", method);
	params = json_add_object(request.message, "params");
	json_add_boolean(params, "execute", true);
	json_add_text(params, "worker", worker);
	request.method = json_text(json_get(request.message, "method"));
	request.params = params;
	return request;
}

bool
operation_begin_own(struct broker *broker, const char *method, const char *worker,
    const uint8_t job[16], void (*begin)(struct operation *operation))
{
	struct rpc_request request = own_request(method, worker);
	struct operation *operation = add_operation(broker, NULL, &request, -1);

	if (job)
		memcpy(operation->job, job, sizeof(operation->job));
	begin(operation);
	return !operation->ended;
}

unsigned
operation_own_count(const struct broker *broker, const char *method)
{
	unsigned count = 0;

	for (const struct operation *at = broker->operations; at; at = at->next)
		count += !at->client && !at->ended && strcmp(at->request.method, method) == 0;
	return count;
}

/*
 * It is over: nobody finds it any more.  Its memory is given back by operation_run(), for the
 * method that ended it may still be looking at it.
 */
static void
end_operation(struct operation *operation)
{
	if (operation->client)
		operation->client->operation = NULL;
	operation->client = NULL;
	operation->ended = true;
	operation->wait = WAIT_NOTHING;
	operation->question = 0;
	operation->holds_job = false;
	if (operation->hands_segments)
		operation->broker->handing_segments = false;
}

static void
free_operation(struct operation *operation)
{
	assess_free(operation->assessment);
	submission_free(operation->submission);
	json_free(operation->refusal_data);
	json_free(operation->answer);
	free(operation->sealed);
	free(operation->pruned);
	for (uint64_t i = 0; i < operation->segment_count; i++)
		close(operation->segments[i]);
	free(operation->segments);
	if (operation->descriptor >= 0)
		close(operation->descriptor);
	rpc_free(&operation->request);
	free(operation);
}

/* Send the line and be done with the operation. */
static void
send_and_end(struct operation *operation, char *line, size_t length)
{
	int *descriptors = operation->segments;
	size_t count = operation->segment_count;

	operation->segments = NULL;
	operation->segment_count = 0;
	if (operation->client)
		client_send(operation->client, line, length, descriptors, count);
	else
		free(line); /* the broker's own hands out no descriptors */
	end_operation(operation);
}

void
operation_answer(struct operation *operation, struct json *result)
{
	size_t length;
	char *line = rpc_result(operation->request.id, result, &length);

	if (length < LIMIT_LINE_BYTES) {
		send_and_end(operation, line, length);
		return;
	}
	free(line);
	operation_refuse(operation, "invalid_input",
	    "the answer is longer than a line may be; ask for less");
}

static void
refuse(struct operation *operation, struct json *data, const char *code, const char *format,
    va_list arguments)
{
	struct rpc_fault fault = { .number = RPC_OURS, .code = code };
	const struct method *method = find_method(operation->request.method);
	size_t length;
	char *line;

	if (!method || (method->control_only && operation->client && !operation->client->control))
		fault.number = RPC_METHOD;
	if (vsnprintf(fault.text, sizeof(fault.text), format, arguments) < 0)
		fault.text[0] = '\0';
	if (!text_is_utf8(fault.text, strlen(fault.text)))
		text_copy(fault.text, sizeof(fault.text), code); /* cut within a character */
	for (int *fd = operation->segments; operation->segment_count > 0;
	     operation->segment_count--)
		close(*fd++);
	line = rpc_error(operation->request.id, &fault, data, &length);
	send_and_end(operation, line, length);
}

void
operation_refuse(struct operation *operation, const char *code, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	refuse(operation, NULL, code, format, arguments);
	va_end(arguments);
}

void
operation_refuse_with(struct operation *operation, struct json *data, const char *code,
    const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	refuse(operation, data, code, format, arguments);
	va_end(arguments);
}

void
operation_abandon(struct operation *operation)
{
	end_operation(operation);
}

void
operation_await(struct operation *operation, enum operation_wait wait,
    void (*resume)(struct operation *operation))
{
	operation->wait = wait;
	operation->resume = resume;
	operation->woken = false;
}

void
operation_await_record(struct operation *operation, uint64_t sn,
    void (*resume)(struct operation *operation))
{
	operation->sn = sn;
	operation->record_by_us = clock_monotonic_us() + LIMIT_RECORD_MS * 1000ull;
	operation_await(operation, WAIT_RECORD, resume);
}

static void
say_refusal(struct operation *operation)
{
	struct json *data = operation->refusal_data;

	operation->refusal_data = NULL;
	operation_refuse_with(operation, data, operation->refusal_code, "%s",
	    operation->refusal_text);
}

void
operation_refuse_after(struct operation *operation, uint64_t sn, struct json *data,
    const char *code, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (vsnprintf(operation->refusal_text, sizeof(operation->refusal_text), format, arguments) <
	    0)
		operation->refusal_text[0] = '\0';
	va_end(arguments);
	operation->refusal_code = code;
	operation->refusal_data = data;
	operation_await_record(operation, sn, say_refusal);
}

void
operation_job_changed(struct broker *broker, const uint8_t job[16])
{
	for (struct operation *at = broker->operations; at; at = at->next)
		if (memcmp(at->job, job, 16) == 0)
			at->woken |= at->wait == WAIT_JOB || at->wait == WAIT_RUN;
}

void
operation_run_ended(struct broker *broker)
{
	for (struct operation *at = broker->operations; at; at = at->next)
		at->woken |= at->wait == WAIT_RUN;
}

struct operation *
operation_of_question(struct broker *broker, uint64_t question)
{
	for (struct operation *at = broker->operations; at; at = at->next)
		if (at->question == question)
			return at;
	return NULL;
}

bool
operation_job_is_held(const struct broker *broker, const uint8_t job[16])
{
	for (const struct operation *at = broker->operations; at; at = at->next)
		if (at->holds_job && memcmp(at->job, job, 16) == 0)
			return true;
	return false;
}

static bool
may_go_on(const struct operation *operation)
{
	bool late = operation->deadline_us && clock_monotonic_us() >= operation->deadline_us;
	const char *why;

	switch (operation->wait) {
	case WAIT_NOTHING:
		return false;
	case WAIT_WOKEN:
	case WAIT_RUN:
		return operation->woken;
	case WAIT_RECORD:
		return outbox_is_settled(&operation->broker->outbox, operation->sn) ||
		    !outbox_accepts(&operation->broker->outbox, &why) ||
		    clock_monotonic_us() >= operation->record_by_us;
	case WAIT_JOB:
		return operation->woken || late;
	case WAIT_TIME:
		return late;
	case WAIT_EVENT:
		return late || outbox_is_settled(&operation->broker->outbox, operation->sn);
	}
	return false;
}

static void
go_on(struct operation *operation)
{
	bool unrecorded = operation->wait == WAIT_RECORD &&
	    !outbox_is_settled(&operation->broker->outbox, operation->sn);
	const char *why = "";

	operation->wait = WAIT_NOTHING;
	if (unrecorded && !outbox_accepts(&operation->broker->outbox, &why))
		operation_refuse(operation, "audit_integrity_error",
		    "%s: this step takes effect only when it is on record", why);
	else if (unrecorded)
		operation_refuse(operation, "busy",
		    "the log has not taken the record of this step for %d seconds; the step takes "
		    "effect when it does: look at the job again", LIMIT_RECORD_MS / 1000);
	else
		operation->resume(operation);
}

static void
free_ended(struct broker *broker)
{
	struct operation **at = &broker->operations, *operation;

	while ((operation = *at)) {
		if (operation->ended) {
			*at = operation->next;
			free_operation(operation);
		} else
			at = &operation->next;
	}
}

bool
operation_run(struct broker *broker)
{
	struct operation *at = broker->operations;
	bool moved = false;

	while (at) {
		if (may_go_on(at)) {
			/* Anything may have ended meanwhile: begin again from the oldest. */
			go_on(at);
			moved = true;
			at = broker->operations;
		} else
			at = at->next;
	}
	free_ended(broker);
	return moved;
}

uint64_t
operation_deadline(const struct broker *broker)
{
	uint64_t first = 0;

	for (const struct operation *at = broker->operations; at; at = at->next) {
		uint64_t due = at->wait == WAIT_RECORD ? at->record_by_us :
		    at->wait == WAIT_JOB || at->wait == WAIT_TIME || at->wait == WAIT_EVENT ? at->deadline_us : 0;

		if (due && (!first || due < first))
			first = due;
	}
	return first;
}
