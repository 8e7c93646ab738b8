/* JSON-RPC 2.0, one message per line. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "text.h"

#include "rpc.h"

static bool
refuse(struct rpc_fault *fault, enum rpc_number number, const char *text)
{
	fault->number = number;
	fault->code = "invalid_input";
	text_copy(fault->text, sizeof(fault->text), text);
	return false;
}

/* An integer or a short text; anything else (also null: a notification) cannot be answered. */
static bool
is_id(const struct json *id)
{
	const char *text = json_text(id);
	int64_t number;

	return text ? strlen(text) <= RPC_ID_BYTES : json_integer(id, &number);
}

static bool
read_members(struct rpc_request *request, struct rpc_fault *fault)
{
	static const char *const known[] = { "jsonrpc", "id", "method", "params", NULL };
	const struct json *message = request->message;
	const char *version = json_text(json_get(message, "jsonrpc"));

	if (!is_id(json_get(message, "id")))
		return refuse(fault, RPC_REQUEST,
		    "id must be an integer or a text of at most 200 bytes");
	request->id = json_get(message, "id");
	if (!version || strcmp(version, "2.0") != 0)
		return refuse(fault, RPC_REQUEST, "jsonrpc must be \"2.0\"");
	if (json_unknown_key(message, known))
		return refuse(fault, RPC_REQUEST,
		    "only jsonrpc, id, method and params may be there");
	request->method = json_text(json_get(message, "method"));
	if (!request->method)
		return refuse(fault, RPC_REQUEST, "method must be a text");
	request->params = json_get(message, "params");
	if (request->params && !json_is_object(request->params))
		return refuse(fault, RPC_PARAMS, "params must be an object");
	return true;
}

bool
rpc_parse(const char *line, size_t length, struct rpc_request *request, struct rpc_fault *fault)
{
	struct json_error error;
	char text[300];

	memset(request, 0, sizeof(*request));
	request->message = json_parse(line, length, &error);
	if (!request->message) {
		text_format(text, sizeof(text), "not strict JSON: column %zu: %s", error.column,
		    error.text);
		return refuse(fault, RPC_PARSE, text);
	}
	if (!json_is_object(request->message))
		return refuse(fault, RPC_REQUEST, "a request is one object");
	return read_members(request, fault);
}

void
rpc_free(struct rpc_request *request)
{
	json_free(request->message);
	memset(request, 0, sizeof(*request));
}

/* {"jsonrpc":"2.0","id":...} */
static struct json *
begin_answer(const struct json *id)
{
	struct json *answer = json_object();

	json_add_text(answer, "jsonrpc", "2.0");
	if (id)
		json_add(answer, "id", json_copy(id));
	else
		json_add_null(answer, "id");
	return answer;
}

static char *
print(struct json *answer, size_t *length)
{
	char *text = json_print(answer, length);

	json_free(answer);
	return text;
}

char *
rpc_result(const struct json *id, struct json *result, size_t *length)
{
	struct json *answer = begin_answer(id);

	json_add(answer, "result", result);
	return print(answer, length);
}

char *
rpc_error(const struct json *id, const struct rpc_fault *fault, struct json *data, size_t *length)
{
	struct json *answer = begin_answer(id), *error = json_add_object(answer, "error"), *all;

	json_add_integer(error, "code", fault->number);
	json_add_text(error, "message", fault->text);
	all = json_add_object(error, "data");
	json_add_text(all, "code", fault->code);
	for (size_t i = 0; i < json_count(data); i++)
		json_add(all, json_key_at(data, i), json_copy(json_at(data, i)));
	json_free(data);
	return print(answer, length);
}
