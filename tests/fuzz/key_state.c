/* links: auditor/sign.c auditor/journal.c auditor/chain.c auditor/rekey.c auditor/cut.c auditor/record.c auditor/strict.c auditor/scan.c auditor/tree.c shared/digest.c shared/text.c shared/base64.c shared/log.c shared/whole.c */
/* libs: -lsodium */
/* Two slots of key.state: whatever lies there, a key is chosen only when it has the number that is wanted. */
#include <stdlib.h>
#include <string.h>

#include "digest.h"

#include "sign.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static uint8_t slot_bytes[2][SIGN_SLOT];
	struct sign_slot slots[2];
	uint8_t state[32], evolved_state[32];
	uint64_t number;
	bool evolved;

	digest_open();
	if (size < sizeof(number))
		return 0;
	memcpy(&number, bytes, sizeof(number));
	bytes += sizeof(number);
	size -= sizeof(number);
	memset(slot_bytes, 0, sizeof(slot_bytes));
	memcpy(slot_bytes[0], bytes, size / 2 < SIGN_SLOT ? size / 2 : SIGN_SLOT);
	memcpy(slot_bytes[1], bytes + size / 2, size - size / 2 < SIGN_SLOT ? size - size / 2 : SIGN_SLOT);
	for (unsigned i = 0; i < 2; i++) {
		slots[i] = sign_slot_read(slot_bytes[i], i);
		if (slots[i].valid && slots[i].number % 2 != i)
			abort();
	}
	if (sign_choose(slots, number, state, &evolved))
		return 0;
	if (!evolved && (!slots[number % 2].valid || slots[number % 2].number != number))
		abort();
	if (evolved) {
		sign_evolve(evolved_state, slots[(number + 1) % 2].state);
		if (slots[(number + 1) % 2].number + 1 != number || memcmp(state, evolved_state, 32) != 0)
			abort();
	}
	return 0;
}
