#ifndef REKEY_H
#define REKEY_H

/*
 * The one way past a lost key.state: a statement of the operator, signed with a key that never was on
 * this host, that the log goes on with a new key (agent-safe-audit(7), REKEY).  Its forms; pure, fuzzed.
 *
 *   request     mark, origin, size, head (hex), new public key (base64), each on a line
 *   signed text the request and a line with the reason
 *   statement   the signed text, an empty line, the signature (base64) on a line
 *   record      d of log.rekey: {"size":DEC,"head":"HEX","key":"B64","reason":"...","sig":"B64"}
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "limits.h"

#define REKEY_MARK "agent-safe-audit-rekey/1"
#define REKEY_REASON 200 /* printable ASCII but " and \ */
#define REKEY_TEXT (LIMIT_ORIGIN + 512)
#define REKEY_BODY 600

struct rekey {
	uint64_t size;      /* how many lines the log had */
	uint8_t head[32];   /* SHA-256 of the last of them */
	uint8_t key[32];    /* public key of the next seal */
	char reason[REKEY_REASON + 1];
	uint8_t signature[64];
};

bool rekey_is_reason(const char *text);

size_t rekey_request(const struct rekey *rekey, const char *origin, char text[REKEY_TEXT]);
bool rekey_read_request(const char *text, size_t length, const char *origin, struct rekey *rekey);

/* What the operator signs. */
size_t rekey_text(const struct rekey *rekey, const char *origin, char text[REKEY_TEXT]);

size_t rekey_statement(const struct rekey *rekey, const char *origin, char text[REKEY_TEXT]);
bool rekey_read_statement(const char *text, size_t length, const char *origin, struct rekey *rekey);

size_t rekey_body(const struct rekey *rekey, char body[REKEY_BODY]);
bool rekey_read_body(const char *body, size_t length, struct rekey *rekey);

#endif
