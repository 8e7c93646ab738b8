/* links: auditor/cosign.c auditor/scan.c shared/vkey.c shared/digest.c shared/text.c shared/base64.c shared/log.c */
/* libs: -lsodium */
/* d of log.cosign: what is read is written again as the same bytes.  Any text as a vkey: the same. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

#include "digest.h"

#include "cosign.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char body[COSIGN_BODY], text[VKEY_TEXT], given[VKEY_TEXT];
	struct cosign cosign;
	struct vkey vkey;

	digest_open();
	if (cosign_read(&cosign, (const char *)data, size) &&
	    (cosign_body(body, &cosign) != size || memcmp(body, data, size) != 0))
		abort();
	if (size >= sizeof(given))
		return 0;
	memcpy(given, data, size);
	given[size] = '\0';
	for (enum vkey_type type = VKEY_LOG; type <= VKEY_WITNESS; type += VKEY_WITNESS - VKEY_LOG) {
		if (vkey_read(&vkey, given, type))
			continue;
		vkey_write(&vkey, text);
		if (strcmp(text, given) != 0)
			abort();
	}
	return 0;
}
