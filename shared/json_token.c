/* Strings, numbers and words of JSON, as RFC 8259 has them. */
#include <stdint.h>
#include <string.h>

#include "json_scan.h"
#include "json_token.h"
#include "text.h"

bool
json_token_fail_at(struct json_token *token, size_t at, const char *error)
{
	if (!token->error) {
		token->error = error;
		token->error_at = at;
	}
	return false;
}

bool
json_token_fail(struct json_token *token, const char *error)
{
	return json_token_fail_at(token, token->at, error);
}

int
json_token_peek(const struct json_token *token)
{
	return token->at < token->length ? (unsigned char)token->bytes[token->at] : -1;
}

static bool
is_digit(int c)
{
	return c >= '0' && c <= '9';
}

static bool
is_space(int c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

void
json_token_skip_space(struct json_token *token)
{
	while (is_space(json_token_peek(token)))
		token->at++;
}

/* Four hex digits of a \u escape. */
static bool
scan_hex(struct json_token *token, uint32_t *unit)
{
	*unit = 0;
	for (size_t i = 0; i < 4; i++, token->at++) {
		int c = json_token_peek(token);

		if (is_digit(c))
			*unit = *unit << 4 | (uint32_t)(c - '0');
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			*unit = *unit << 4 | (uint32_t)((c | 32) - 'a' + 10);
		else
			return json_token_fail(token, "a \\u escape needs four hex digits");
	}
	return true;
}

/* The cursor stands behind "\u".  One character, perhaps of two escapes. */
static bool
scan_unicode(struct json_token *token, uint32_t *code)
{
	size_t start = token->at - 2;
	uint32_t low;

	if (!scan_hex(token, code))
		return false;
	if (*code == 0)
		return json_token_fail_at(token, start, "\\u0000 is not taken");
	if (*code >= 0xdc00 && *code <= 0xdfff)
		return json_token_fail_at(token, start, "a lone surrogate");
	if (*code < 0xd800 || *code > 0xdfff)
		return true;
	if (token->length - token->at < 6 || memcmp(token->bytes + token->at, "\\u", 2) != 0)
		return json_token_fail_at(token, start, "a lone surrogate");
	token->at += 2;
	if (!scan_hex(token, &low))
		return false;
	if (low < 0xdc00 || low > 0xdfff)
		return json_token_fail_at(token, start, "a lone surrogate");
	*code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
	return true;
}

static size_t
put_utf8(char *to, uint32_t code)
{
	if (code < 0x80) {
		to[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		to[0] = (char)(0xc0 | code >> 6);
		to[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	if (code < 0x10000) {
		to[0] = (char)(0xe0 | code >> 12);
		to[1] = (char)(0x80 | (code >> 6 & 0x3f));
		to[2] = (char)(0x80 | (code & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | code >> 18);
	to[1] = (char)(0x80 | (code >> 12 & 0x3f));
	to[2] = (char)(0x80 | (code >> 6 & 0x3f));
	to[3] = (char)(0x80 | (code & 0x3f));
	return 4;
}

/* The cursor stands on a backslash.  Decodes one escape to at most 4 bytes; 0 with an error set. */
static size_t
scan_escape(struct json_token *token, char *to)
{
	static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
	uint32_t code;
	const char *name;
	int c;

	token->at++;
	c = json_token_peek(token);
	if (c == 'u') {
		token->at++;
		return scan_unicode(token, &code) ? put_utf8(to, code) : 0;
	}
	name = c > 0 ? strchr(names, c) : NULL;
	if (!name) {
		json_token_fail(token, "an unknown escape");
		return 0;
	}
	token->at++;
	*to = values[name - names];
	return 1;
}

/*
 * A string, the cursor on its opening quote.  to: where the decoded bytes go, or NULL; they are
 * never more than the raw ones.
 */
bool
json_token_string(struct json_token *token, char *to, size_t *decoded)
{
	size_t count = 0;

	for (token->at++; json_token_peek(token) != '"';) {
		char bytes[4];
		size_t size;

		if (json_token_peek(token) < 0)
			return json_token_fail(token, "the string does not end");
		if (json_token_peek(token) < 0x20)
			return json_token_fail(token, "a raw control character in a string");
		if (json_token_peek(token) == '\\') {
			size = scan_escape(token, bytes);
			if (size == 0)
				return false;
		} else {
			size =
			    text_utf8_length(token->bytes + token->at, token->length - token->at);
			if (size == 0)
				return json_token_fail(token, "not valid UTF-8");
			memcpy(bytes, token->bytes + token->at, size);
			token->at += size;
		}
		if (to)
			memcpy(to + count, bytes, size);
		count += size;
	}
	token->at++;
	if (decoded)
		*decoded = count;
	return true;
}

static bool
scan_digits(struct json_token *token)
{
	if (!is_digit(json_token_peek(token)))
		return json_token_fail(token, "a number needs a digit here");
	while (is_digit(json_token_peek(token)))
		token->at++;
	return true;
}

/* Sixteen digits at most, so the sum cannot overflow. */
static bool
integer_fits(const char *digits, size_t count)
{
	uint64_t sum = 0;

	if (count > 16)
		return false;
	for (size_t i = 0; i < count; i++)
		sum = sum * 10 + (uint64_t)(digits[i] - '0');
	return sum <= (1ull << 53) - 1;
}

bool
json_token_number(struct json_token *token)
{
	size_t start = token->at, digits;
	bool whole = true;

	if (json_token_peek(token) == '-')
		token->at++;
	digits = token->at;
	if (!scan_digits(token))
		return false;
	if (token->bytes[digits] == '0' && token->at - digits > 1)
		return json_token_fail_at(token, start, "a number with a leading zero");
	if (json_token_peek(token) == '.') {
		whole = false;
		token->at++;
		if (!scan_digits(token))
			return false;
	}
	if ((json_token_peek(token) | 32) == 'e') {
		whole = false;
		token->at++;
		if (json_token_peek(token) == '+' || json_token_peek(token) == '-')
			token->at++;
		if (!scan_digits(token))
			return false;
	}
	if (whole && !integer_fits(token->bytes + digits, token->at - digits))
		return json_token_fail_at(token, start, "an integer beyond 2^53-1");
	if (token->at - start > JSON_SCAN_NUMBER_MOST)
		return json_token_fail_at(token, start, "a number with too many characters");
	return true;
}

bool
json_token_word(struct json_token *token, const char *word)
{
	size_t size = strlen(word);

	if (token->length - token->at < size || memcmp(token->bytes + token->at, word, size) != 0)
		return json_token_fail(token, "not a JSON value");
	token->at += size;
	return true;
}

