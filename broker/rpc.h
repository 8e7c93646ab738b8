#ifndef RPC_H
#define RPC_H

/* JSON-RPC 2.0, one message per line: bytes to a request and back.  Pure. */
#include <stdbool.h>
#include <stddef.h>

#include "json.h"

#define RPC_ID_BYTES 200 /* of a text id */

enum rpc_number {
	RPC_OURS = -32000,
	RPC_PARSE = -32700,
	RPC_REQUEST = -32600,
	RPC_METHOD = -32601,
	RPC_PARAMS = -32602,
};

/* Owned by whoever parsed it: rpc_free(). */
struct rpc_request {
	struct json *message;      /* everything below points into it */
	const struct json *id;     /* integer or text; NULL when it could not be read */
	const char *method;
	const struct json *params; /* an object, or NULL when there were none */
};

struct rpc_fault {
	enum rpc_number number;
	const char *code; /* stable: "invalid_input" */
	char text[300];   /* for a person; never quotes the input */
};

/* False with *fault; request->id is set then if it could be read.  rpc_free() in both cases. */
bool rpc_parse(const char *line, size_t length, struct rpc_request *request,
    struct rpc_fault *fault);
void rpc_free(struct rpc_request *request);

/* One line without its newline, malloc()ed.  Takes result, or data (more members, or NULL). */
char *rpc_result(const struct json *id, struct json *result, size_t *length);
char *rpc_error(const struct json *id, const struct rpc_fault *fault, struct json *data,
    size_t *length);

#endif
