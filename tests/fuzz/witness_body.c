/* links: auditor/witness/body.c auditor/checkpoint.c auditor/consistency.c auditor/scan.c auditor/tree.c shared/vkey.c shared/digest.c shared/text.c shared/base64.c shared/log.c */
/* libs: -lsodium */
/* Any bytes as the body of add-checkpoint: what is accepted lies within its bytes and keeps the limits. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

#include "digest.h"

#include "body.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct body body;
	struct checkpoint_signature signature;
	struct checkpoint_lines lines;
	const struct checkpoint *checkpoint = &body.checkpoint;
	const uint8_t key[32] = { 1 };
	struct vkey log;

	digest_open();
	if (size > BODY_BYTES || body_read(&body, (const char *)data, size))
		return 0;
	if (body.count > CONSISTENCY_MOST || body.old > checkpoint->size || (body.old == 0 && body.count > 0))
		abort();
	if (checkpoint->text < (const char *)data || checkpoint->text_length >= CHECKPOINT_TEXT ||
	    checkpoint->signatures + checkpoint->signatures_length != (const char *)data + size ||
	    checkpoint->text[checkpoint->text_length - 1] != '\n' || checkpoint->text[checkpoint->text_length] != '\n')
		abort();
	if (strlen(checkpoint->origin) == 0 || strncmp(checkpoint->text, checkpoint->origin, strlen(checkpoint->origin)) != 0)
		abort();
	lines = (struct checkpoint_lines){ checkpoint->signatures, checkpoint->signatures_length };
	while (checkpoint_next(&lines, &signature))
		if (!vkey_is_name(signature.name) || signature.length < 5)
			abort();
	vkey_make(&log, checkpoint->origin, VKEY_LOG, key);
	if (checkpoint_is_signed(checkpoint, &log))
		abort();
	return 0;
}
