/* MCP in both eras. */
#include <string.h>

#include "json.h"
#include "limits.h"
#include "talk.h"

#include "mcp.h"
#include "protocol.h"
#include "reply.h"
#include "tools.h"
#include "waits.h"

#define META_VERSION "io.modelcontextprotocol/protocolVersion"
#define META_CAPABILITIES "io.modelcontextprotocol/clientCapabilities"
#define MODERN "2026-07-28"
#define LIST_TTL_MS 3600000 /* the tools are compiled in */

static const char *const legacy[] = { "2025-11-25", "2025-06-18", "2024-11-05" }; /* newest first */

static const char instructions[] =
    "Commands are proposed here, not run: a person approves or denies each, a policy limits what can be approved, "
    "and what is approved runs in a cage without network. Call `policy` to see what may be proposed, `propose` "
    "with the command as an array (no shell), `wait` for the decision and the end, `output` for what it wrote.";

/* One request, its parts found. */
struct request {
	const struct json *id;     /* NULL: a notification */
	const char *method;
	const struct json *params; /* NULL: none */
	bool modern;
};

static bool
is_modern(const struct request *request)
{
	const struct json *meta = json_get(request->params, "_meta");

	return json_get(meta, META_VERSION) || json_get(meta, META_CAPABILITIES) ||
	    strcmp(request->method, "server/discover") == 0;
}

/* The versions of one message's era must be named by it, rightly; false: answered. */
static bool
check_modern(struct mcp *mcp, const struct request *request)
{
	const struct json *meta = json_get(request->params, "_meta");
	const char *version = json_text(json_get(meta, META_VERSION));
	struct json *data;

	if (!version || !json_is_object(json_get(meta, META_CAPABILITIES))) {
		reply_error(mcp, request->id, REPLY_PARAMS,
		    "_meta must hold " META_VERSION " and " META_CAPABILITIES, NULL);
		return false;
	}
	if (strcmp(version, MODERN) == 0)
		return true;
	data = json_object();
	json_add_text(json_add_array(data, "supported"), NULL, MODERN);
	json_add_text(data, "requested", version);
	reply_error(mcp, request->id, REPLY_VERSION, "unsupported protocol version", data);
	return false;
}

/* An unknown version is answered with our newest of that era, never echoed and never an error. */
static void
on_initialize(struct mcp *mcp, const struct request *request)
{
	const char *wanted = json_text(json_get(request->params, "protocolVersion")), *version = legacy[0];
	struct json *result = json_object();

	for (size_t i = 0; wanted && i < sizeof(legacy) / sizeof(*legacy); i++)
		if (strcmp(wanted, legacy[i]) == 0)
			version = legacy[i];
	json_add_text(result, "protocolVersion", version);
	json_add_object(json_add_object(result, "capabilities"), "tools");
	json_add(result, "serverInfo", reply_server_info());
	json_add_text(result, "instructions", instructions);
	mcp->initialized = true;
	reply_result(mcp, request->id, result, false);
}

/* What a result that may be cached says of itself in the newer era. */
static void
add_caching(struct json *result)
{
	json_add_integer(result, "ttlMs", LIST_TTL_MS);
	json_add_text(result, "cacheScope", "public");
}

static void
on_discover(struct mcp *mcp, const struct request *request)
{
	struct json *result = json_object();

	json_add_text(json_add_array(result, "supportedVersions"), NULL, MODERN);
	json_add_object(json_add_object(result, "capabilities"), "tools");
	json_add_text(result, "instructions", instructions);
	add_caching(result);
	reply_result(mcp, request->id, result, true);
}

static void
on_ping(struct mcp *mcp, const struct request *request)
{
	reply_result(mcp, request->id, json_object(), false);
}

/* All on one page: a client that ignores nextCursor (Gemini does) must see every tool. */
static void
on_tools_list(struct mcp *mcp, const struct request *request)
{
	struct json *result;

	if (json_get(request->params, "cursor")) {
		reply_error(mcp, request->id, REPLY_PARAMS, "no such cursor: there is one page", NULL);
		return;
	}
	result = json_object();
	json_add(result, "tools", tools_list(mcp));
	if (request->modern)
		add_caching(result);
	reply_result(mcp, request->id, result, request->modern);
}

static void
on_tools_call(struct mcp *mcp, const struct request *request)
{
	const char *name = json_text(json_get(request->params, "name"));
	const struct tool *tool = name ? tools_find(mcp, name) : NULL;
	const struct json *arguments = json_get(request->params, "arguments");
	struct talk_fault fault = { 0 };
	struct json *value;

	if (!tool) {
		reply_error(mcp, request->id, REPLY_PARAMS, name ? "no such tool" : "params.name is missing", NULL);
		return;
	}
	if (!arguments_check(tool->arguments, arguments, &fault)) {
		reply_refusal(mcp, request->id, &fault, request->modern);
	} else if (!tool->call) {
		waits_begin(mcp, request->id, request->params, request->modern);
	} else {
		mcp->claims = json_get(request->params, "_meta");
		value = tool->call(mcp, arguments, &fault);
		mcp->claims = NULL;
		if (value && tool->output)
			reply_tool(mcp, request->id, value, request->modern);
		else if (value)
			reply_text(mcp, request->id, value, request->modern);
		else
			reply_refusal(mcp, request->id, &fault, request->modern);
	}
	talk_fault_clear(&fault);
}

enum eras { LEGACY = 1, NEWER = 2, BOTH = 3 };

static const struct {
	const char *method;
	enum eras eras;
	bool before_handshake;
	void (*handle)(struct mcp *mcp, const struct request *request);
} methods[] = {
	{ "initialize", LEGACY, true, on_initialize },
	{ "ping", LEGACY, true, on_ping },
	{ "server/discover", NEWER, true, on_discover },
	{ "tools/list", BOTH, false, on_tools_list },
	{ "tools/call", BOTH, false, on_tools_call },
};

static void
handle_request(struct mcp *mcp, const struct request *request)
{
	enum eras era = request->modern ? NEWER : LEGACY;

	if (request->modern && !check_modern(mcp, request))
		return;
	for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++) {
		if (strcmp(methods[i].method, request->method) != 0 || !(methods[i].eras & era))
			continue;
		if (request->params && !json_is_object(request->params))
			reply_error(mcp, request->id, REPLY_PARAMS, "params must be an object", NULL);
		else if (!request->modern && !methods[i].before_handshake && !mcp->initialized)
			reply_error(mcp, request->id, REPLY_REQUEST, "initialize first", NULL);
		else
			methods[i].handle(mcp, request);
		return;
	}
	reply_error(mcp, request->id, REPLY_METHOD, "no such method", NULL);
}

/* Never answered; unknown ones are ignored. */
static void
handle_notification(struct mcp *mcp, const struct request *request)
{
	if (strcmp(request->method, "notifications/cancelled") == 0)
		waits_cancel(mcp, json_get(request->params, "requestId"));
}

/* Strings and integers, never null; 1.5 and 2^53 cannot be echoed exactly. */
static bool
is_id(const struct json *id)
{
	int64_t number;

	return json_text(id) || json_integer(id, &number);
}

/* A message that is JSON: request, notification, response, or none of these. */
static void
handle_message(struct mcp *mcp, const struct json *message)
{
	const struct json *id = json_get(message, "id");
	const char *version = json_text(json_get(message, "jsonrpc"));
	struct request request = {
		.id = id,
		.method = json_text(json_get(message, "method")),
		.params = json_get(message, "params"),
	};

	if (json_is_array(message)) {
		reply_error(mcp, NULL, REPLY_REQUEST, "batches are not taken", NULL);
		return;
	}
	if (!json_get(message, "method") && (json_get(message, "result") || json_get(message, "error")))
		return; /* a response: nothing was asked, and junk must not start an exchange */
	if (!json_is_object(message) || (id && !is_id(id))) {
		reply_error(mcp, NULL, REPLY_REQUEST, "not a request", NULL);
		return;
	}
	if (!version || strcmp(version, "2.0") != 0 || !request.method) {
		reply_error(mcp, id, REPLY_REQUEST, "not a JSON-RPC 2.0 request", NULL);
		return;
	}
	request.modern = is_modern(&request);
	if (id)
		handle_request(mcp, &request);
	else
		handle_notification(mcp, &request);
}

static bool
is_blank(const char *line, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!strchr(" \t\r", line[i]) || line[i] == '\0')
			return false;
	return true;
}

void
protocol_line(struct mcp *mcp, const char *line, size_t length)
{
	struct json_error error;
	struct json *message;

	if (is_blank(line, length))
		return;
	message = json_parse(line, length, &error);
	if (!message) {
		/* A key twice is JSON by its grammar, so no parse error; which one counts is not ours to choose. */
		reply_error(mcp, NULL, error.repeated_key ? REPLY_REQUEST : REPLY_PARSE, error.text, NULL);
		return;
	}
	handle_message(mcp, message);
	json_free(message);
}

void
protocol_too_long(struct mcp *mcp)
{
	reply_error(mcp, NULL, REPLY_PARSE, "a line longer than 1 MiB", NULL);
}
