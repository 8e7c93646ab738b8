/* d of log.cosign. */
#include <inttypes.h>
#include <string.h>

#include "text.h"

#include "cosign.h"
#include "scan.h"

size_t
cosign_body(char body[COSIGN_BODY], const struct cosign *cosign)
{
	char text[BASE64_SIZE(CHECKPOINT_COSIGNATURE)];

	base64_encode(text, cosign->bytes, sizeof(cosign->bytes));
	text_format(body, COSIGN_BODY, "{\"witness\":\"%s\",\"size\":%" PRIu64 ",\"cosignature\":\"%s\"}",
	    cosign->witness, cosign->size, text);
	return strlen(body);
}

bool
cosign_read(struct cosign *cosign, const char *body, size_t length)
{
	struct scan scan = { body, length };
	const char *quote;
	size_t size, decoded;

	*cosign = (struct cosign){ 0 };
	if (!scan_literal(&scan, "{\"witness\":\""))
		return false;
	quote = memchr(scan.at, '"', scan.left);
	size = quote ? (size_t)(quote - scan.at) : 0;
	if (size == 0 || size >= sizeof(cosign->witness))
		return false;
	memcpy(cosign->witness, scan.at, size);
	if (strlen(cosign->witness) != size)
		return false;
	scan = (struct scan){ scan.at + size, scan.left - size };
	if (!scan_literal(&scan, "\",\"size\":") || !scan_decimal(&scan, &cosign->size) ||
	    !scan_literal(&scan, ",\"cosignature\":\""))
		return false;
	size = BASE64_SIZE(CHECKPOINT_COSIGNATURE) - 1;
	return scan.left == size + 2 && memcmp(scan.at + size, "\"}", 2) == 0 && vkey_is_name(cosign->witness) &&
	    base64_decode(scan.at, size, cosign->bytes, sizeof(cosign->bytes), &decoded) &&
	    decoded == sizeof(cosign->bytes);
}
