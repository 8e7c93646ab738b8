/* The forms of a statement that the log goes on with a new key. */
#include <inttypes.h>
#include <string.h>

#include "base64.h"
#include "text.h"

#include "rekey.h"
#include "scan.h"

static bool
is_reason_byte(char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

bool
rekey_is_reason(const char *text)
{
	size_t length = strlen(text);

	for (size_t i = 0; i < length; i++)
		if (!is_reason_byte(text[i]))
			return false;
	return length > 0 && length <= REKEY_REASON;
}

/* --- text --------------------------------------------------------------------------- */

size_t
rekey_request(const struct rekey *rekey, const char *origin, char text[REKEY_TEXT])
{
	char head[65], key[BASE64_SIZE(32)];

	text_hex(head, rekey->head, 32);
	base64_encode(key, rekey->key, 32);
	text_format(text, REKEY_TEXT, REKEY_MARK "\n%s\n%" PRIu64 "\n%s\n%s\n", origin, rekey->size, head, key);
	return strlen(text);
}

size_t
rekey_text(const struct rekey *rekey, const char *origin, char text[REKEY_TEXT])
{
	size_t length = rekey_request(rekey, origin, text);

	text_format(text + length, REKEY_TEXT - length, "%s\n", rekey->reason);
	return strlen(text);
}

size_t
rekey_statement(const struct rekey *rekey, const char *origin, char text[REKEY_TEXT])
{
	size_t length = rekey_text(rekey, origin, text);
	char signature[BASE64_SIZE(64)];

	base64_encode(signature, rekey->signature, 64);
	text_format(text + length, REKEY_TEXT - length, "\n%s\n", signature);
	return strlen(text);
}

static bool
scan_request(struct scan *scan, const char *origin, struct rekey *rekey)
{
	*rekey = (struct rekey){ 0 };
	return scan_literal(scan, REKEY_MARK "\n") && scan_literal(scan, origin) && scan_literal(scan, "\n") &&
	    scan_decimal(scan, &rekey->size) && scan_literal(scan, "\n") && scan_hex(scan, rekey->head, 32) &&
	    scan_literal(scan, "\n") && scan_base64(scan, rekey->key, 32) && scan_literal(scan, "\n");
}

static bool
scan_reason(struct scan *scan, struct rekey *rekey)
{
	size_t length = 0;

	while (length < scan->left && length < REKEY_REASON && is_reason_byte(scan->at[length]))
		length++;
	memcpy(rekey->reason, scan->at, length);
	rekey->reason[length] = '\0';
	*scan = (struct scan){ scan->at + length, scan->left - length };
	return length > 0;
}

bool
rekey_read_request(const char *text, size_t length, const char *origin, struct rekey *rekey)
{
	struct scan scan = { text, length };

	return scan_request(&scan, origin, rekey) && scan.left == 0;
}

bool
rekey_read_statement(const char *text, size_t length, const char *origin, struct rekey *rekey)
{
	struct scan scan = { text, length };

	return scan_request(&scan, origin, rekey) && scan_reason(&scan, rekey) && scan_literal(&scan, "\n\n") &&
	    scan_base64(&scan, rekey->signature, 64) && scan_literal(&scan, "\n") && scan.left == 0;
}

/* --- record ------------------------------------------------------------------------- */

size_t
rekey_body(const struct rekey *rekey, char body[REKEY_BODY])
{
	char head[65], key[BASE64_SIZE(32)], signature[BASE64_SIZE(64)];

	text_hex(head, rekey->head, 32);
	base64_encode(key, rekey->key, 32);
	base64_encode(signature, rekey->signature, 64);
	text_format(body, REKEY_BODY,
	    "{\"size\":%" PRIu64 ",\"head\":\"%s\",\"key\":\"%s\",\"reason\":\"%s\",\"sig\":\"%s\"}", rekey->size, head,
	    key, rekey->reason, signature);
	return strlen(body);
}

bool
rekey_read_body(const char *body, size_t length, struct rekey *rekey)
{
	struct scan scan = { body, length };

	*rekey = (struct rekey){ 0 };
	return scan_literal(&scan, "{\"size\":") && scan_decimal(&scan, &rekey->size) &&
	    scan_literal(&scan, ",\"head\":\"") && scan_hex(&scan, rekey->head, 32) &&
	    scan_literal(&scan, "\",\"key\":\"") && scan_base64(&scan, rekey->key, 32) &&
	    scan_literal(&scan, "\",\"reason\":\"") && scan_reason(&scan, rekey) &&
	    scan_literal(&scan, "\",\"sig\":\"") && scan_base64(&scan, rekey->signature, 64) &&
	    scan_literal(&scan, "\"}") && scan.left == 0;
}
