#ifndef CHECKPOINT_H
#define CHECKPOINT_H

/*
 * Checkpoints as signed notes (C2SP tlog-checkpoint, signed-note, tlog-cosignature).
 *
 *   <origin> LF <size> LF <base64 root> LF [extension lines] LF <signature lines>
 *   signature line = U+2014 " " <name> " " base64(key id || signature) LF
 *   cosignature    = key id || u64be seconds || Ed25519("cosignature/v1\ntime <seconds>\n" || text)
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base64.h"
#include "limits.h"
#include "vkey.h"

#define CHECKPOINT_BYTES 16384    /* a note with its signatures; ours have some 700 bytes */
#define CHECKPOINT_TEXT (LIMIT_ORIGIN + 2048) /* what is signed */
#define CHECKPOINT_COSIGNATURE 76 /* 4 + 8 + 64 bytes */
#define CHECKPOINT_LINE (LIMIT_ORIGIN + BASE64_SIZE(CHECKPOINT_COSIGNATURE) + 8) /* one signature line, its NUL */

struct checkpoint {
	char origin[LIMIT_ORIGIN];
	uint64_t size;
	uint8_t root[32];
	const char *text;       /* what is signed, the newline of its last line included */
	size_t text_length;
	const char *signatures; /* the lines behind the empty line */
	size_t signatures_length;
};

/* Pointers go into the given bytes; false when they are not such a note. */
bool checkpoint_read(struct checkpoint *checkpoint, const char *note, size_t length);

/*
 * The signature lines, one after the other: take the next one off *lines.  Its name, and the bytes
 * behind the key id (at most `capacity`).  False at the end, and at a line of another form.
 */
struct checkpoint_lines {
	const char *at;
	size_t left;
};
struct checkpoint_signature {
	char name[LIMIT_ORIGIN];
	uint8_t bytes[CHECKPOINT_COSIGNATURE]; /* key id first */
	size_t length;
};
bool checkpoint_next(struct checkpoint_lines *lines, struct checkpoint_signature *signature);

/* Does one of these lines hold a signature of this key (type 01) over the text? */
bool checkpoint_is_signed(const struct checkpoint *checkpoint, const struct vkey *log);

/* Does this cosignature hold?  bytes: CHECKPOINT_COSIGNATURE.  *seconds: when it says it was made. */
bool checkpoint_is_cosigned(const char *text, size_t length, const struct vkey *witness, const uint8_t *bytes,
    uint64_t *seconds);

/* A cosignature: the 76 bytes. */
void checkpoint_cosign(const char *text, size_t length, const struct vkey *witness, const uint8_t secret_key[64],
    uint64_t seconds, uint8_t bytes[CHECKPOINT_COSIGNATURE]);

/* One signature line with its newline; its length. */
size_t checkpoint_line(char line[CHECKPOINT_LINE], const char *name, const void *bytes, size_t length);

/* The same of an Ed25519 signature (type 01) by this key. */
size_t checkpoint_signature_line(char line[CHECKPOINT_LINE], const struct vkey *vkey, const uint8_t signature[64]);

#endif
