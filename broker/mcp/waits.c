/* `wait` calls that are under way. */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "json.h"
#include "loop.h"
#include "talk.h"
#include "text.h"

#include "ask.h"
#include "mcp.h"
#include "reply.h"
#include "waits.h"

#define PROGRESS_US 5000000ull
#define GIVE_UP_US 10000000ull /* the broker answers when the time is over; later than this it is not well */

static void
release(struct wait *wait)
{
	json_free(wait->id);
	json_free(wait->token);
	json_free(wait->job_id);
	talk_close(&wait->talk);
	*wait = (struct wait){ 0 };
}

/* Answer with the job (taken over), or with the fault when it is NULL. */
static void
finish(struct mcp *mcp, struct wait *wait, struct json *job, struct talk_fault *fault)
{
	if (job) {
		json_add_boolean(job, "reached", talk_is_reached(job, wait->what));
		reply_tool(mcp, wait->id, job, wait->modern);
	} else {
		reply_refusal(mcp, wait->id, fault, wait->modern);
	}
	talk_fault_clear(fault);
	release(wait);
}

static struct wait *
free_wait(struct mcp *mcp)
{
	for (size_t i = 0; i < WAITS_MOST; i++)
		if (!mcp->waits[i].used)
			return &mcp->waits[i];
	return NULL;
}

/* Ask on a connection of its own; the broker answers when it is so, or when the time is over. */
static bool
ask_to_wait(struct mcp *mcp, struct wait *wait, struct talk_fault *fault)
{
	struct json *params;

	if (!ask_connect(mcp, &wait->talk, fault))
		return false;
	params = json_object();
	json_add(params, "job_id", json_copy(wait->job_id));
	json_add_text(params, "for", wait->what);
	json_add_integer(params, "timeout_ms", (int64_t)(wait->end_us - wait->begun_us) / 1000);
	wait->asked = talk_send(&wait->talk, "job.wait", params, -1);
	if (wait->asked < 0)
		talk_fault_set(fault, "broker_unreachable", "job.wait: %s", strerror(errno));
	return wait->asked >= 0;
}

void
waits_begin(struct mcp *mcp, const struct json *id, const struct json *params, bool modern)
{
	const struct json *arguments = json_get(params, "arguments");
	const struct json *token = json_get(json_get(params, "_meta"), "progressToken");
	const char *what = json_text(json_get(arguments, "for"));
	struct talk_fault fault = { 0 };
	struct wait *wait = free_wait(mcp);
	int64_t seconds = 60, number;

	if (!wait) {
		talk_fault_set(&fault, "invalid_input", "too many waits at once: %d", WAITS_MOST);
		reply_refusal(mcp, id, &fault, modern);
		return;
	}
	json_integer(json_get(arguments, "timeout"), &seconds);
	*wait = (struct wait){ .used = true, .modern = modern, .talk = { .fd = -1 } };
	wait->id = json_copy(id);
	wait->job_id = json_copy(json_get(arguments, "job_id"));
	if (json_text(token) || json_integer(token, &number))
		wait->token = json_copy(token);
	text_copy(wait->what, sizeof(wait->what), what ? what : "ended");
	wait->begun_us = clock_monotonic_us();
	wait->end_us = wait->begun_us + (uint64_t)seconds * 1000000;
	wait->next_progress_us = wait->begun_us + PROGRESS_US;
	if (!ask_to_wait(mcp, wait, &fault))
		finish(mcp, wait, NULL, &fault);
}

/* The same type and the same value. */
static bool
same_id(const struct json *a, const struct json *b)
{
	int64_t first, second;

	if (json_text(a) && json_text(b))
		return strcmp(json_text(a), json_text(b)) == 0;
	return json_integer(a, &first) && json_integer(b, &second) && first == second;
}

void
waits_cancel(struct mcp *mcp, const struct json *request_id)
{
	for (size_t i = 0; i < WAITS_MOST; i++)
		if (mcp->waits[i].used && same_id(mcp->waits[i].id, request_id))
			release(&mcp->waits[i]);
}

size_t
waits_watch(struct mcp *mcp, struct pollfd *due, int *timeout_ms)
{
	uint64_t now = clock_monotonic_us();
	size_t count = 0;

	for (size_t i = 0; i < WAITS_MOST; i++) {
		const struct wait *wait = &mcp->waits[i];
		uint64_t next = wait->end_us + GIVE_UP_US + 1, left;

		if (!wait->used)
			continue;
		due[count++] = (struct pollfd){ .fd = wait->talk.fd, .events = POLLIN };
		if (wait->token && wait->next_progress_us < wait->end_us)
			next = wait->next_progress_us;
		left = next > now ? (next - now + 999) / 1000 : 0;
		if (*timeout_ms < 0 || left < (uint64_t)*timeout_ms)
			*timeout_ms = (int)left;
	}
	return count;
}

/* Whole seconds since it began: they only grow. */
static void
send_progress(struct mcp *mcp, struct wait *wait, uint64_t now)
{
	struct json *message = json_object(), *params;

	json_add_text(message, "jsonrpc", "2.0");
	json_add_text(message, "method", "notifications/progress");
	params = json_add_object(message, "params");
	json_add(params, "progressToken", json_copy(wait->token));
	json_add_integer(params, "progress", (int64_t)((now - wait->begun_us) / 1000000));
	json_add_integer(params, "total", (int64_t)((wait->end_us - wait->begun_us) / 1000000));
	json_add_text(params, "message", strcmp(wait->what, "decided") == 0 ? "a person has not decided yet" :
	    "the job has not ended yet");
	wait->next_progress_us = now + PROGRESS_US;
	reply_send(mcp, message);
}

static void
serve_one(struct mcp *mcp, struct wait *wait)
{
	struct talk_fault fault = { 0 };
	struct json *reply = NULL;
	uint64_t now;

	switch (talk_receive(&wait->talk, 0, &reply)) {
	case TALK_REPLY:
		reply = talk_result(reply, wait->asked, &fault);
		finish(mcp, wait, reply, &fault);
		return;
	case TALK_TIMEOUT:
		now = clock_monotonic_us();
		if (now > wait->end_us + GIVE_UP_US) {
			talk_fault_set(&fault, "broker_unreachable", "no answer to job.wait in time");
			finish(mcp, wait, NULL, &fault);
			return;
		}
		if (wait->token && now >= wait->next_progress_us && now < wait->end_us)
			send_progress(mcp, wait, now);
		return;
	default:
		talk_fault_set(&fault, "broker_unreachable", "the broker ended while this was waiting; ask again");
		finish(mcp, wait, NULL, &fault);
	}
}

void
waits_serve(struct mcp *mcp)
{
	for (size_t i = 0; i < WAITS_MOST; i++)
		if (mcp->waits[i].used)
			serve_one(mcp, &mcp->waits[i]);
}

void
waits_finish(struct mcp *mcp)
{
	waits_serve(mcp);
	for (size_t i = 0; i < WAITS_MOST; i++) {
		struct wait *wait = &mcp->waits[i];
		struct talk_fault fault = { 0 };
		struct json *params, *job;

		if (!wait->used)
			continue;
		params = json_object();
		json_add(params, "job_id", json_copy(wait->job_id));
		job = ask(mcp, "job.get", params, -1, &fault);
		finish(mcp, wait, job, &fault);
	}
}
