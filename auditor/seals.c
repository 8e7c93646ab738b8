/* The newest seals of a log. */
#include <inttypes.h>
#include <string.h>

#include "base64.h"
#include "text.h"

#include "seals.h"

void
seals_note(struct seals *seals, const struct chain *chain, const struct record *record)
{
	struct seal *seal = &seals->ring[seals->count % SEALS];
	size_t length = BASE64_SIZE(64) - 1, decoded;

	if (strcmp(record->type, "log.genesis") == 0 || strcmp(record->type, "log.rekey") == 0)
		memcpy(seals->next_signer, chain->key, 32);
	if (strcmp(record->type, "log.seal") != 0)
		return;
	seal->number = chain->next_seal - 1;
	seal->size = record->seq;
	memcpy(seal->prev, record->prev, 32);
	memcpy(seal->root, chain->root, 32);
	memcpy(seal->next, chain->key, 32);
	memcpy(seal->time, record->time, RECORD_TIME);
	memcpy(seals->signer, seals->next_signer, 32);
	memcpy(seals->next_signer, chain->key, 32);
	/* The chain has read it: d ends with the signature, a quote and a brace. */
	base64_decode(record->body + record->body_length - 2 - length, length, seals->signature, 64, &decoded);
	seals->count++;
}

const struct seal *
seals_newest(const struct seals *seals)
{
	return seals->count == 0 ? NULL : &seals->ring[(seals->count - 1) % SEALS];
}

const struct seal *
seals_find(const struct seals *seals, uint64_t size)
{
	uint64_t least = seals->count > SEALS ? seals->count - SEALS : 0;

	for (uint64_t i = seals->count; i > least; i--)
		if (seals->ring[(i - 1) % SEALS].size == size)
			return &seals->ring[(i - 1) % SEALS];
	return NULL;
}

size_t
seals_text(const char *origin, const struct seal *seal, char text[CHAIN_SEAL_TEXT])
{
	char root[BASE64_SIZE(32)], next[BASE64_SIZE(32)], prev[65];

	base64_encode(root, seal->root, 32);
	base64_encode(next, seal->next, 32);
	text_hex(prev, seal->prev, 32);
	text_format(text, CHAIN_SEAL_TEXT, "%s\n%" PRIu64 "\n%s\nseal %" PRIu64 " %s %s %s\n", origin, seal->size, root,
	    seal->number, prev, next, seal->time);
	return strlen(text);
}

size_t
seals_line(const struct seals *seals, const char *origin, char line[CHECKPOINT_LINE])
{
	char name[LIMIT_ORIGIN + 32];
	struct vkey vkey;

	text_format(name, sizeof(name), "%s/fs/%" PRIu64, origin, seals_newest(seals)->number);
	vkey_make(&vkey, name, VKEY_LOG, seals->signer);
	return checkpoint_signature_line(line, &vkey, seals->signature);
}
