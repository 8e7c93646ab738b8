/* Checkpoints as signed notes. */
#include <inttypes.h>
#include <string.h>

#include <sodium.h>

#include "text.h"

#include "checkpoint.h"
#include "scan.h"

#define DASH "\u2014 "
#define SIGNATURE_MOST 16384 /* bytes of one signature line's base64: other people's schemes are longer */

/* --- reading -------------------------------------------------------------------- */

/* The next line without its newline; false when there is none. */
static bool
take_line(struct scan *scan, const char **line, size_t *length)
{
	const char *end = memchr(scan->at, '\n', scan->left);

	if (!end)
		return false;
	*line = scan->at;
	*length = (size_t)(end - scan->at);
	*scan = (struct scan){ end + 1, scan->left - *length - 1 };
	return true;
}

bool
checkpoint_read(struct checkpoint *checkpoint, const char *note, size_t length)
{
	struct scan scan = { note, length };
	const char *line;
	size_t size;

	*checkpoint = (struct checkpoint){ .text = note };
	if (memchr(note, '\0', length) || !take_line(&scan, &line, &size) || size == 0 || size >= LIMIT_ORIGIN)
		return false;
	memcpy(checkpoint->origin, line, size);
	if (!scan_decimal(&scan, &checkpoint->size) || !scan_literal(&scan, "\n") ||
	    !scan_base64(&scan, checkpoint->root, 32) || !scan_literal(&scan, "\n"))
		return false;
	do {
		checkpoint->text_length = (size_t)(scan.at - note);
		if (!take_line(&scan, &line, &size))
			return false;
	} while (size > 0);
	checkpoint->signatures = scan.at;
	checkpoint->signatures_length = scan.left;
	return checkpoint->text_length < CHECKPOINT_TEXT && text_is_utf8(note, checkpoint->text_length);
}

bool
checkpoint_next(struct checkpoint_lines *lines, struct checkpoint_signature *signature)
{
	struct scan scan = { lines->at, lines->left };
	const char *line, *blank;
	uint8_t bytes[SIGNATURE_MOST / 4 * 3];
	size_t size, length;

	*signature = (struct checkpoint_signature){ 0 };
	if (!take_line(&scan, &line, &size) || size > SIGNATURE_MOST || size < strlen(DASH) ||
	    memcmp(line, DASH, strlen(DASH)) != 0)
		return false;
	line += strlen(DASH);
	size -= strlen(DASH);
	blank = memchr(line, ' ', size);
	if (!blank || blank - line >= LIMIT_ORIGIN || memchr(line, '\0', (size_t)(blank - line)))
		return false;
	memcpy(signature->name, line, (size_t)(blank - line));
	length = size - (size_t)(blank - line) - 1;
	if (!base64_decode(blank + 1, length, bytes, sizeof(bytes), &signature->length) || signature->length < 5)
		return false;
	/* Longer than ours: a scheme of somebody else, which nobody here can check. */
	if (signature->length <= sizeof(signature->bytes))
		memcpy(signature->bytes, bytes, signature->length);
	if (!vkey_is_name(signature->name))
		return false;
	*lines = (struct checkpoint_lines){ scan.at, scan.left };
	return true;
}

static bool
is_by(const struct checkpoint_signature *signature, const struct vkey *vkey, size_t length)
{
	return signature->length == length && strcmp(signature->name, vkey->name) == 0 &&
	    memcmp(signature->bytes, vkey->id, sizeof(vkey->id)) == 0;
}

bool
checkpoint_is_signed(const struct checkpoint *checkpoint, const struct vkey *log)
{
	struct checkpoint_lines lines = { checkpoint->signatures, checkpoint->signatures_length };
	struct checkpoint_signature signature;

	while (checkpoint_next(&lines, &signature))
		if (is_by(&signature, log, 4 + 64))
			return crypto_sign_verify_detached(signature.bytes + 4, (const uint8_t *)checkpoint->text,
			    checkpoint->text_length, log->key) == 0;
	return false;
}

/* --- cosignatures ----------------------------------------------------------------- */

/* "cosignature/v1\ntime <seconds>\n<text>"; its length, 0: too long. */
static size_t
cosigned_text(char to[CHECKPOINT_TEXT + 64], uint64_t seconds, const char *text, size_t length)
{
	size_t head;

	text_format(to, 64, "cosignature/v1\ntime %" PRIu64 "\n", seconds);
	head = strlen(to);
	if (length > CHECKPOINT_TEXT)
		return 0;
	memcpy(to + head, text, length);
	return head + length;
}

bool
checkpoint_is_cosigned(const char *text, size_t length, const struct vkey *witness, const uint8_t *bytes,
    uint64_t *seconds)
{
	char cosigned[CHECKPOINT_TEXT + 64];

	*seconds = 0;
	for (size_t i = 0; i < 8; i++)
		*seconds = *seconds << 8 | bytes[4 + i];
	length = cosigned_text(cosigned, *seconds, text, length);
	return length > 0 && memcmp(bytes, witness->id, sizeof(witness->id)) == 0 &&
	    crypto_sign_verify_detached(bytes + 12, (const uint8_t *)cosigned, length, witness->key) == 0;
}

void
checkpoint_cosign(const char *text, size_t length, const struct vkey *witness, const uint8_t secret_key[64],
    uint64_t seconds, uint8_t bytes[CHECKPOINT_COSIGNATURE])
{
	char cosigned[CHECKPOINT_TEXT + 64];

	memcpy(bytes, witness->id, 4);
	for (size_t i = 0; i < 8; i++)
		bytes[4 + i] = (uint8_t)(seconds >> 8 * (7 - i));
	length = cosigned_text(cosigned, seconds, text, length);
	crypto_sign_detached(bytes + 12, NULL, (const uint8_t *)cosigned, length, secret_key);
}

/* --- writing ---------------------------------------------------------------------- */

size_t
checkpoint_line(char line[CHECKPOINT_LINE], const char *name, const void *bytes, size_t length)
{
	char text[BASE64_SIZE(CHECKPOINT_COSIGNATURE)];

	base64_encode(text, bytes, length);
	text_format(line, CHECKPOINT_LINE, DASH "%s %s\n", name, text);
	return strlen(line);
}

size_t
checkpoint_signature_line(char line[CHECKPOINT_LINE], const struct vkey *vkey, const uint8_t signature[64])
{
	uint8_t bytes[4 + 64];

	memcpy(bytes, vkey->id, 4);
	memcpy(bytes + 4, signature, 64);
	return checkpoint_line(line, vkey->name, bytes, sizeof(bytes));
}
