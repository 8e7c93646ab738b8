#ifndef KEYS_H
#define KEYS_H

/*
 * The witness' own key, and the logs it knows.
 *
 *   key    "<name> <base64 of the Ed25519 seed>" LF
 *   logs   one vkey (type 01) a line; empty lines and lines that begin with # are passed over
 */
#include <stdbool.h>
#include <stdint.h>

#include "checkpoint.h"

#define KEYS_LOGS_BYTES (1u << 20)

struct keys {
	struct vkey vkey;
	uint8_t secret[64];
};

/* NULL, or what is wrong. */
const char *keys_make(int folder_fd, const char *name);
const char *keys_open(struct keys *keys, int folder_fd);
void keys_close(struct keys *keys);

/* NULL, or what is wrong: also when the log is known already, or another key of that name. */
const char *keys_trust(int folder_fd, const char *text);

/*
 * Who may have made this checkpoint.  More than one key of a name is allowed: each line counts.
 * KEYS_DAMAGED: the file cannot be read, or a line of it is no vkey.
 */
enum keys_answer { KEYS_SIGNED, KEYS_UNKNOWN_LOG, KEYS_UNSIGNED, KEYS_DAMAGED };
enum keys_answer keys_judge(int folder_fd, const struct checkpoint *checkpoint);

#endif
