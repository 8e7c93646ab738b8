/* links: auditor/compose.c auditor/compose_facts.c auditor/compose_end.c auditor/json_text.c auditor/strict.c auditor/scan.c shared/fields.c shared/digest.c shared/run.c shared/text.c shared/base64.c shared/log.c */
/* libs: -lsodium */
/* The executor's facts: whatever they are, what is composed of them is one strict object. */
#include <stdlib.h>

#include "digest.h"
#include "payloads.h"

#include "compose.h"
#include "strict.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void
must_be_strict(const char *body, size_t length)
{
	const char *why;

	if (length > 0 && !strict_object(body, length, &why))
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static char body[LIMIT_RECORD_BODY];
	const struct run_name run = { .attempt = 1 };
	const uint8_t digest[32] = { 0 };

	digest_open();
	must_be_strict(body, compose_intent(body, &run, digest, bytes, size));
	must_be_strict(body, compose_output(body, &run, bytes, size));
	for (uint32_t fact = 0; fact <= FACT_LOST + 1; fact++)
		must_be_strict(body, compose_fact(body, &run, fact, bytes, size));
	return 0;
}
