#ifndef JSON_TOKEN_H
#define JSON_TOKEN_H

/* A cursor over JSON text and the tokens it can pass.  Part of the scanner (json_scan.h). */
#include <stdbool.h>
#include <stddef.h>

struct json_token {
	const char *bytes;
	size_t length, at;
	const char *error; /* the first one; a constant */
	size_t error_at;
};

/* Both return false, and keep the first error. */
bool json_token_fail(struct json_token *token, const char *error);
bool json_token_fail_at(struct json_token *token, size_t at, const char *error);

/* The byte at the cursor, or -1 at the end. */
int json_token_peek(const struct json_token *token);
void json_token_skip_space(struct json_token *token);

/*
 * A string, the cursor on its opening quote.  to: where the decoded bytes go, or NULL; they are
 * never more than the raw ones.  decoded may be NULL.
 */
bool json_token_string(struct json_token *token, char *to, size_t *decoded);
bool json_token_number(struct json_token *token);
bool json_token_word(struct json_token *token, const char *word);

#endif
