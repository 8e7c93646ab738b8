/* JSON-RPC requests and answers of broker/rpc.c.
 * links: broker/rpc.c shared/json.c shared/json_bytes.c shared/json_find.c shared/json_scan.c shared/json_token.c shared/json_write.c shared/base64.c shared/text.c shared/log.c
 * libs: -lcjson */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "rpc.h"

static void
a_request_is_read(void **state)
{
	static const char line[] =
	    "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"job.get\",\"params\":{\"job_id\":\"x\"}}";
	struct rpc_request request;
	struct rpc_fault fault;

	(void)state;
	assert_true(rpc_parse(line, strlen(line), &request, &fault));
	assert_string_equal(json_text(request.id), "a");
	assert_string_equal(request.method, "job.get");
	assert_string_equal(json_text(json_get(request.params, "job_id")), "x");
	rpc_free(&request);
}

static void
what_is_no_request_is_refused_with_its_number(void **state)
{
	static const struct { const char *line; enum rpc_number number; bool has_id; } lines[] = {
		{ "", RPC_PARSE, false },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"} x", RPC_PARSE, false },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\\ud800\"}", RPC_PARSE, false },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\\u0000\"}", RPC_PARSE, false },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"method\":\"y\"}", RPC_PARSE, false },
		{ "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}]", RPC_REQUEST, false },
		{ "1", RPC_REQUEST, false },
		{ "{\"jsonrpc\":\"2.0\",\"method\":\"x\"}", RPC_REQUEST, false },
		{ "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"x\"}", RPC_REQUEST, false },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"x\"}", RPC_REQUEST, false },
		{ "{\"jsonrpc\":\"2.0\",\"id\":[1],\"method\":\"x\"}", RPC_REQUEST, false },
		{ "{\"jsonrpc\":2,\"id\":1,\"method\":\"x\"}", RPC_REQUEST, true },
		{ "{\"id\":1,\"method\":\"x\"}", RPC_REQUEST, true },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1}", RPC_REQUEST, true },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":1}", RPC_REQUEST, true },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"extra\":1}", RPC_REQUEST, true },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":[]}", RPC_PARAMS, true },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":null}", RPC_PARAMS, true },
	};
	struct rpc_request request;
	struct rpc_fault fault;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (rpc_parse(lines[i].line, strlen(lines[i].line), &request, &fault))
			fail_msg("%s", lines[i].line);
		assert_int_equal(fault.number, lines[i].number);
		assert_string_equal(fault.code, "invalid_input");
		assert_int_equal(request.id != NULL, lines[i].has_id);
		rpc_free(&request);
	}
}

static void
a_fault_never_quotes_the_input(void **state)
{
	static const char line[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"SECRETWORD\":1}";
	struct rpc_request request;
	struct rpc_fault fault;

	(void)state;
	assert_false(rpc_parse(line, strlen(line), &request, &fault));
	assert_null(strstr(fault.text, "SECRETWORD"));
	rpc_free(&request);
	assert_false(rpc_parse("{\"SECRETWORD\":x}", 16, &request, &fault));
	assert_null(strstr(fault.text, "SECRETWORD"));
	rpc_free(&request);
}

static void
answers_are_one_line_with_the_id_as_it_came(void **state)
{
	struct rpc_fault fault = { RPC_OURS, "key_conflict", "no\nline" };
	struct rpc_request request;
	struct json *result = json_object(), *data = json_object();
	size_t length;
	char *text;

	(void)state;
	assert_true(rpc_parse("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"x\"}", 37, &request, &fault));
	json_add_text(result, "a", "b\nc");
	text = rpc_result(request.id, result, &length);
	assert_string_equal(text, "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"a\":\"b\\nc\"}}");
	assert_int_equal(length, strlen(text));
	free(text);
	fault = (struct rpc_fault){ RPC_OURS, "key_conflict", "no\nline" };
	json_add_text(data, "job_id", "x");
	text = rpc_error(NULL, &fault, data, &length);
	assert_string_equal(text, "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32000,\"message\":\"no\\nline\","
	    "\"data\":{\"code\":\"key_conflict\",\"job_id\":\"x\"}}}");
	free(text);
	rpc_free(&request);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_is_read),
		cmocka_unit_test(what_is_no_request_is_refused_with_its_number),
		cmocka_unit_test(a_fault_never_quotes_the_input),
		cmocka_unit_test(answers_are_one_line_with_the_id_as_it_came),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
