/* Any line is a request or a fault that can be answered; an answer is strict JSON on one line.
 * links: broker/rpc.c broker/moment.c shared/json.c shared/json_bytes.c shared/json_find.c shared/json_scan.c shared/json_token.c shared/json_write.c shared/base64.c shared/text.c shared/log.c
 * libs: -lcjson */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "moment.h"
#include "rpc.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void
check_line(char *line, size_t length)
{
	struct json_error error;

	if (strlen(line) != length || memchr(line, '\n', length) || !json_check(line, length, &error))
		abort();
	free(line);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct rpc_request request;
	struct rpc_fault fault;
	const char *text;
	char *line;
	int64_t us;
	size_t length;

	if (size > 65536)
		return 0;
	if (rpc_parse((const char *)bytes, size, &request, &fault)) {
		if (!request.id || !request.method)
			abort();
		line = rpc_result(request.id, json_copy(request.message), &length);
		check_line(line, length);
		text = json_text(json_get(request.params, "not_before"));
		if (text && moment_read(text, &us) && us < 0)
			abort();
	} else {
		if (fault.text[0] == '\0' || !fault.code)
			abort();
		line = rpc_error(request.id, &fault, NULL, &length);
		check_line(line, length);
	}
	rpc_free(&request);
	return 0;
}
