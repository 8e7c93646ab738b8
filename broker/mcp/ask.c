/* Questions to the broker. */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "json.h"
#include "limits.h"
#include "loop.h"
#include "talk.h"

#include "ask.h"
#include "mcp.h"

#define HELLO_MS 15000  /* a trio that was just started recovers its log first */
#define ANSWER_MS 30000 /* the slowest question, an assessment, has LIMIT_ASSESS_MS */
#define AFTER_END_MS 1000 /* for what was read before the input ended */

bool
ask_connect(struct mcp *mcp, struct talk *talk, struct talk_fault *fault)
{
	struct json *hello;
	const char *socket;
	int64_t protocol = 0;
	int fd;

	if (!mcp->placed) {
		talk_fault_set(fault, mcp->trouble.code, "%s", mcp->trouble.message);
		return false;
	}
	fd = place_connect(&mcp->place, mcp->place.propose);
	if (fd < 0) {
		talk_fault_set(fault, errno == EACCES || errno == EPERM ? "not_permitted" : "broker_unreachable",
		    "the broker cannot be reached (%s); a person can start it: agent-safe status", strerror(errno));
		return false;
	}
	talk_open(talk, fd);
	hello = talk_call(talk, "server.hello", NULL, -1, HELLO_MS, fault);
	socket = json_text(json_get(hello, "socket"));
	json_integer(json_get(hello, "protocol"), &protocol);
	if (!hello || !socket || strcmp(socket, "propose") != 0 || protocol != TALK_PROTOCOL) {
		if (hello)
			talk_fault_set(fault, "broker_unreachable",
			    "what answers there is not a broker of this version");
		json_free(hello);
		talk_close(talk);
		return false;
	}
	json_free(hello);
	return true;
}

void
ask_note_end(struct mcp *mcp)
{
	if (mcp->lines.ended && !mcp->ended_us)
		mcp->ended_us = clock_monotonic_us();
}

/* Milliseconds this answer may still take. */
static int
left_ms(const struct mcp *mcp, uint64_t end_us)
{
	uint64_t now = clock_monotonic_us();

	if (mcp->ended_us && mcp->ended_us + AFTER_END_MS * 1000 < end_us)
		end_us = mcp->ended_us + AFTER_END_MS * 1000;
	return end_us > now ? (int)((end_us - now + 999) / 1000) : 0;
}

/* Wait for the reply, reading input meanwhile; NULL when it did not come. */
static struct json *
await(struct mcp *mcp, const char *method, struct talk_fault *fault)
{
	uint64_t end_us = clock_monotonic_us() + ANSWER_MS * 1000ull;
	struct json *reply = NULL;
	enum talk_state state;
	int left;

	while ((left = left_ms(mcp, end_us)) > 0) {
		struct pollfd due[] = {
			{ .fd = mcp->talk.fd, .events = POLLIN },
			{ .fd = lines_wants(&mcp->lines) ? mcp->lines.fd : -1, .events = POLLIN },
		};

		if (poll(due, 2, left) < 0 && errno != EINTR)
			break;
		if (due[1].revents)
			lines_read(&mcp->lines);
		ask_note_end(mcp);
		if (!due[0].revents)
			continue;
		state = talk_receive(&mcp->talk, 0, &reply);
		if (state == TALK_REPLY)
			return reply;
		if (state != TALK_TIMEOUT) {
			talk_fault_set(fault, "broker_unreachable",
			    "the broker ended the connection during %s", method);
			return NULL;
		}
	}
	talk_fault_set(fault, "broker_unreachable", "no answer to %s in time", method);
	return NULL;
}

/* A connection that was closed while nobody looked is replaced before something is asked on it. */
static bool
be_connected(struct mcp *mcp, struct talk_fault *fault)
{
	struct pollfd due = { .fd = mcp->talk.fd, .events = POLLIN };

	if (mcp->connected && poll(&due, 1, 0) == 1) {
		talk_close(&mcp->talk);
		mcp->connected = false;
	}
	if (!mcp->connected)
		mcp->connected = ask_connect(mcp, &mcp->talk, fault);
	return mcp->connected;
}

struct json *
ask(struct mcp *mcp, const char *method, struct json *params, int pass_fd, struct talk_fault *fault)
{
	struct json *reply, *result;
	int64_t id;

	if (!be_connected(mcp, fault)) {
		json_free(params);
		return NULL;
	}
	id = talk_send(&mcp->talk, method, params, pass_fd);
	if (id < 0 && errno == E2BIG) {
		talk_fault_set(fault, "invalid_input", "the request is longer than %u bytes", LIMIT_LINE_BYTES);
		return NULL;
	}
	reply = await(mcp, method, fault);
	if (!reply) {
		talk_close(&mcp->talk); /* a late answer must not be taken for the next one's */
		mcp->connected = false;
		return NULL;
	}
	result = talk_result(reply, id, fault);
	talk_take_descriptors(&mcp->talk, NULL, 0);
	return result;
}
