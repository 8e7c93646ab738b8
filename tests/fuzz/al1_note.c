/* links: auditor/checkpoint.c auditor/scan.c shared/vkey.c shared/digest.c shared/text.c shared/base64.c shared/log.c */
/* libs: -lsodium */
/* Any bytes as a note that was kept: what is read lies within them, and text and signatures are all of them. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

#include "digest.h"

#include "checkpoint.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *note = (const char *)data;
	struct checkpoint_signature signature;
	struct checkpoint checkpoint;
	struct checkpoint_lines lines;
	struct vkey vkey = { 0 };
	uint64_t seconds;
	size_t count = 0;

	digest_open();
	if (!checkpoint_read(&checkpoint, note, size))
		return 0;
	if (checkpoint.text != note || checkpoint.text_length + 1 + checkpoint.signatures_length != size ||
	    checkpoint.signatures != note + checkpoint.text_length + 1)
		abort();
	if (memchr(checkpoint.origin, '\n', strlen(checkpoint.origin)) || memcmp(checkpoint.origin, note,
	    strlen(checkpoint.origin)) != 0)
		abort();
	lines = (struct checkpoint_lines){ checkpoint.signatures, checkpoint.signatures_length };
	while (checkpoint_next(&lines, &signature) && ++count < size)
		/* Of a signature longer than ours nothing is kept but its length. */
		if (strlen(signature.name) == 0 || (signature.length > sizeof(signature.bytes) && signature.bytes[0]))
			abort();
	if (count > 0 && count == size)
		abort();
	/* A key of zeros has signed nothing. */
	if (checkpoint_is_signed(&checkpoint, &vkey))
		abort();
	if (checkpoint.signatures_length >= CHECKPOINT_COSIGNATURE)
		checkpoint_is_cosigned(checkpoint.text, checkpoint.text_length, &vkey,
		    (const uint8_t *)checkpoint.signatures, &seconds);
	return 0;
}
