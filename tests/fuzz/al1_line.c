/* links: auditor/record.c auditor/strict.c auditor/scan.c auditor/tree.c auditor/chain.c auditor/rekey.c auditor/cut.c shared/digest.c shared/text.c shared/base64.c shared/log.c */
/* libs: -lsodium */
/* One line of AL1: what is read is composed again to the same bytes, and the chain takes no other. */
#include <stdlib.h>
#include <string.h>

#include "digest.h"

#include "chain.h"
#include "strict.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static char again[LIMIT_RECORD_BYTES];
	struct chain chain;
	struct record record;
	struct scan value;
	uint64_t number;
	const char *why = NULL;

	digest_open();
	if (!record_parse((const char *)bytes, size, &record, &why)) {
		if (!why)
			abort();
		return 0;
	}
	if (record_compose(again, &record) != size || memcmp(again, bytes, size) != 0)
		abort();
	strict_text(record.body, record.body_length, "job", &value);
	strict_number(record.body, record.body_length, "attempt", &number);
	record_time_us(record.time);
	/* As the next line of a log that has come that far; a seal is checked up to its signature. */
	chain_begin(&chain, "example.org/host1/audit", NULL);
	chain.next_seq = chain.tree.size = record.seq;
	memcpy(chain.head, record.prev, sizeof(chain.head));
	chain.next_sn[record.source] = record.sn;
	chain_take(&chain, (const char *)bytes, size, &record);
	return 0;
}
