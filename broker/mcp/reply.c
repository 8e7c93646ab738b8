/* Messages to the agent's host. */
#include <sys/socket.h>

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "loop.h"
#include "scope.h"
#include "talk.h"
#include "text.h"

#include "mcp.h"
#include "reply.h"

#define PIECE_BYTES 4096     /* PIPE_BUF: a pipe that polls writable takes so much without blocking */
#define UNREAD_MS 2000       /* how long a host that closed its end of our input may leave output unread */

struct json *
reply_server_info(void)
{
	struct json *info = json_object();

	json_add_text(info, "name", "agent-safe");
	json_add_text(info, "title", "agent-safe: commands that a person approves");
	json_add_text(info, "version", AGENT_SAFE_VERSION);
	return info;
}

/* Write a piece without blocking; 0: not now, -1: nobody reads any more. */
static ssize_t
write_piece(const char *bytes, size_t length)
{
	ssize_t wrote = send(STDOUT_FILENO, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (wrote < 0 && errno == ENOTSOCK)
		wrote = write(STDOUT_FILENO, bytes, length < PIECE_BYTES ? length : PIECE_BYTES);
	if (wrote < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	return wrote;
}

/* Wait until standard output takes more, but not for a host that has gone.  false: not yet. */
static bool
wait_writable(struct mcp *mcp)
{
	struct pollfd due[] = {
		{ .fd = STDOUT_FILENO, .events = POLLOUT },
		/* Nothing is asked of the input but whether its other end was closed. */
		{ .fd = mcp->ended_us ? -1 : mcp->lines.fd, .events = 0 },
	};
	bool gone;

	if (poll(due, 2, UNREAD_MS) < 0 && errno != EINTR)
		_exit(0);
	gone = mcp->ended_us || due[1].revents & (POLLHUP | POLLERR);
	if (due[0].revents || !gone)
		return due[0].revents != 0;
	if (poll(due, 1, UNREAD_MS) <= 0)
		_exit(0);
	return true;
}

static void
write_all(struct mcp *mcp, const char *bytes, size_t length)
{
	while (length > 0) {
		ssize_t wrote;

		if (!wait_writable(mcp))
			continue;
		wrote = write_piece(bytes, length);
		if (wrote < 0)
			_exit(0);
		bytes += wrote;
		length -= (size_t)wrote;
	}
}

void
reply_send(struct mcp *mcp, struct json *message)
{
	scoped_free char *line = NULL;
	size_t length;

	line = json_print(message, &length);
	json_free(message);
	line[length] = '\n'; /* over the NUL */
	write_all(mcp, line, length + 1);
}

static struct json *
begin(const struct json *id)
{
	struct json *message = json_object();

	json_add_text(message, "jsonrpc", "2.0");
	if (id)
		json_add(message, "id", json_copy(id));
	return message;
}

void
reply_error(struct mcp *mcp, const struct json *id, enum reply_code code, const char *text, struct json *data)
{
	struct json *message = begin(id), *error = json_add_object(message, "error");

	json_add_integer(error, "code", code);
	json_add_text(error, "message", text);
	if (data)
		json_add(error, "data", data);
	reply_send(mcp, message);
}

void
reply_result(struct mcp *mcp, const struct json *id, struct json *result, bool modern)
{
	struct json *message = begin(id);

	if (modern) {
		json_add_text(result, "resultType", "complete");
		json_add(json_add_object(result, "_meta"), "io.modelcontextprotocol/serverInfo", reply_server_info());
	}
	json_add(message, "result", result);
	reply_send(mcp, message);
}

/* {"type":"text","text":TEXT} */
static void
add_text_block(struct json *content, const char *text)
{
	struct json *block = json_add_object(content, NULL);

	json_add_text(block, "type", "text");
	json_add_text(block, "text", text);
}

void
reply_tool(struct mcp *mcp, const struct json *id, struct json *value, bool modern)
{
	scoped_free char *text = json_print(value, NULL);
	struct json *result = json_object();

	add_text_block(json_add_array(result, "content"), text);
	json_add(result, "structuredContent", value);
	json_add_boolean(result, "isError", false);
	reply_result(mcp, id, result, modern);
}

void
reply_text(struct mcp *mcp, const struct json *id, struct json *value, bool modern)
{
	scoped_free char *text = json_print(value, NULL);
	struct json *result = json_object();

	json_free(value);
	add_text_block(json_add_array(result, "content"), text);
	json_add_boolean(result, "isError", false);
	reply_result(mcp, id, result, modern);
}

/*
 * Words first, {"error":{...}} with all the broker said second.  Not the other way round: a host (Gemini CLI
 * 0.61) takes a first block that is JSON for structured content, and then refuses it by the tool's schema.
 */
void
reply_refusal(struct mcp *mcp, const struct json *id, const struct talk_fault *fault, bool modern)
{
	struct json *value = json_object(), *error = json_add_object(value, "error");
	struct json *result = json_object(), *content = json_add_array(result, "content");
	scoped_free char *text = NULL;
	char words[sizeof(fault->code) + sizeof(fault->message) + 2];

	json_add_text(error, "code", fault->code);
	json_add_text(error, "message", fault->message);
	for (size_t i = 0; i < json_count(fault->data); i++) {
		const char *key = json_key_at(fault->data, i);

		if (key && strcmp(key, "code") != 0 && strcmp(key, "message") != 0)
			json_add(error, key, json_copy(json_at(fault->data, i)));
	}
	text = json_print(value, NULL);
	json_free(value);
	text_format(words, sizeof(words), "%s: %s", fault->code, fault->message);
	add_text_block(content, words);
	add_text_block(content, text);
	json_add_boolean(result, "isError", true);
	reply_result(mcp, id, result, modern);
}
