#ifndef OPERATOR_H
#define OPERATOR_H

/*
 * The operator's Ed25519 key, kept away from the host whose log it is for, and the one thing it signs:
 * that a log which has lost its key goes on with a new one (rekey.h).
 *
 * The secret file holds the 32 bytes of the seed (RFC 8032) in base64, on a line.
 */
#include <stdbool.h>
#include <stdint.h>

struct verify;

/* Make a secret file, which must not exist, and print its public key.  False after one line on standard error. */
bool operator_make(const char *path);

/* The public key of a secret file; false after one line on standard error. */
bool operator_public(const char *path, uint8_t key[32]);

/*
 * All of the log is read: print the statement that request and reason ask for.  False after one line on
 * standard error: the request is not about the end of this log.
 */
bool operator_sign(const struct verify *verify, const char *request, const char *secret, const char *reason);

#endif
