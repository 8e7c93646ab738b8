/* links: auditor/rekey.c auditor/scan.c shared/text.c shared/base64.c */
/* Statement, request and d of log.rekey: what is read is written again as the same bytes. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

#include "rekey.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	char again[REKEY_TEXT], body[REKEY_BODY];
	struct rekey rekey;

	if (rekey_read_request(text, size, "host/ws", &rekey) &&
	    (rekey_request(&rekey, "host/ws", again) != size || memcmp(again, text, size) != 0))
		abort();
	if (rekey_read_statement(text, size, "host/ws", &rekey) &&
	    (rekey_statement(&rekey, "host/ws", again) != size || memcmp(again, text, size) != 0 ||
		!rekey_is_reason(rekey.reason)))
		abort();
	if (rekey_read_body(text, size, &rekey) &&
	    (rekey_body(&rekey, body) != size || memcmp(body, text, size) != 0 || !rekey_is_reason(rekey.reason)))
		abort();
	return 0;
}
