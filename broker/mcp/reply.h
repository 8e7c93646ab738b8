#ifndef REPLY_H
#define REPLY_H

/* Messages to the agent's host: the only thing that is ever written to standard output. */
#include <stdbool.h>

struct json;
struct mcp;
struct talk_fault;

enum reply_code {
	REPLY_PARSE = -32700,
	REPLY_REQUEST = -32600,
	REPLY_METHOD = -32601,
	REPLY_PARAMS = -32602,
	REPLY_VERSION = -32022, /* 2026-07-28: unsupported protocol version */
};

/* Error of the protocol.  id NULL: could not be read, and is left out.  data is taken over, NULL: none. */
void reply_error(struct mcp *mcp, const struct json *id, enum reply_code code, const char *text, struct json *data);

/* A result; takes it over.  modern: adds resultType and serverInfo. */
void reply_result(struct mcp *mcp, const struct json *id, struct json *result, bool modern);

/* Result of a tool: `value` (taken over) as structured content and as text. */
void reply_tool(struct mcp *mcp, const struct json *id, struct json *value, bool modern);

/* The same as text alone: of a tool without an output schema. */
void reply_text(struct mcp *mcp, const struct json *id, struct json *value, bool modern);

/* A tool that did not do what was asked: text the model can act on, isError. */
void reply_refusal(struct mcp *mcp, const struct json *id, const struct talk_fault *fault, bool modern);

/* {"name","title","version"} of this server. */
struct json *reply_server_info(void);

/* One message as a line; takes it over.  Ends the process, status 0, when nobody reads any more. */
void reply_send(struct mcp *mcp, struct json *message);

#endif
