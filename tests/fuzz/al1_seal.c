/* links: auditor/sign.c auditor/journal.c auditor/record.c auditor/strict.c auditor/scan.c auditor/tree.c auditor/chain.c auditor/rekey.c auditor/cut.c shared/digest.c shared/text.c shared/base64.c shared/log.c shared/whole.c */
/* libs: -lsodium */
/*
 * d of a log.seal at a place where a seal must stand: of all bodies the chain takes the one that the
 * key of that seal has signed, and no other; one that is refused changes nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

#include "digest.h"

#include "chain.h"
#include "sign.h"

#define GENESIS_US 1790000000000000u /* of the vectors, as the key is: their first seal is the right one */
#define SEAL_US 1790000000250000u

static struct chain chain; /* behind log.genesis */
static struct sign sign = { .fd = -1 };
static char right[512];    /* the seal's body */
static size_t right_length;

static void
begin(void)
{
	struct record record = { .source = RECORD_AUDITOR, .type = "log.genesis" };
	static char line[LIMIT_RECORD_BYTES];
	char body[512], text[CHAIN_SEAL_TEXT];
	uint8_t key[32], next[32], signature[64];

	digest_open();
	for (unsigned i = 0; i < 32; i++)
		sign.state[i] = (uint8_t)i;
	sign_public(&sign, key);
	sign_next_public(&sign, next);
	chain_begin(&chain, "example.org/host1/audit", key);
	record_time(record.time, GENESIS_US);
	record.body = body;
	record.body_length = chain_genesis_body(body, sizeof(body), "example.org/host1/audit", key);
	if (chain_take(&chain, line, record_compose(line, &record), &record))
		abort();
	record_time(record.time, SEAL_US);
	sign_seal(&sign, text, chain_seal_text(&chain, record.time, next, text), signature);
	right_length = chain_seal_body(&chain, right, sizeof(right), next, signature);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char line[LIMIT_RECORD_BYTES];
	struct record record = { .source = RECORD_AUDITOR, .type = "log.seal", .seq = 1, .sn = 1 };
	struct chain after;
	bool is_right, taken;
	size_t length;

	if (right_length == 0)
		begin();
	record_time(record.time, SEAL_US);
	memcpy(record.prev, chain.head, 32);
	record.body = (const char *)data;
	record.body_length = size;
	length = size > 0 && size < LIMIT_RECORD_BODY ? record_compose(line, &record) : 0;
	if (length == 0)
		return 0;
	after = chain;
	taken = !chain_take(&after, line, length, &record);
	is_right = size == right_length && memcmp(data, right, size) == 0;
	if (taken != is_right)
		abort();
	if (!taken && memcmp(&after, &chain, sizeof(chain)) != 0)
		abort();
	return 0;
}
