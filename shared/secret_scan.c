/*
 * Tokens by their shape: prefixes of secrets.def, JWTs, bearer values, URLs with a password, key
 * blocks.
 */
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "secret_assign.h"
#include "secret_name.h"
#include "secret_scan.h"

enum characters { CAPITALS, ALNUM, WORD, URL, DOTTED, BASE64, HEX };

enum flags { ANY_CASE = 1 << 0, MIXED = 1 << 1 };

struct family {
	const char *rule, *prefix;
	enum characters characters;
	size_t least, most;
	unsigned flags;
};

static const struct family families[] = {
#define SECRET(rule, prefix, characters, least, most, flags)                                       \
	{ #rule, prefix, characters, least, most, flags },
#include "secrets.def"
#undef SECRET
};
#define FAMILY_COUNT (sizeof(families) / sizeof(families[0]))

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
belongs(char c, enum characters characters)
{
	switch (characters) {
	case CAPITALS:
		return is_digit(c) || (c >= 'A' && c <= 'Z');
	case ALNUM:
		return secret_name_is_alnum(c);
	case WORD:
		return secret_name_is_alnum(c) || c == '_';
	case URL:
		return secret_name_is_alnum(c) || c == '_' || c == '-';
	case DOTTED:
		return secret_name_has(c);
	case BASE64:
		return secret_name_has(c) || c == '+' || c == '/' || c == '=';
	case HEX:
		return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
	}
	return false;
}

/* How many of these characters stand at `from`, at most `most`. */
static size_t
run(const struct secret_scan *scan, size_t from, enum characters characters, size_t most)
{
	size_t size = 0;

	while (size < most && from + size < scan->length &&
	    belongs(scan->bytes[from + size], characters))
		size++;
	return size;
}

/* The last characters of an escape look like letters: "%3D", "\n", "[0m" as text. */
static bool
ends_escape(const char *bytes, size_t at)
{
	char last = bytes[at - 1];
	size_t back = at - 1;

	if (at >= 2 && bytes[at - 2] == '\\' && strchr("nrtbf", last))
		return true;
	if (at >= 3 && bytes[at - 3] == '%' && belongs(bytes[at - 2], HEX) && belongs(last, HEX))
		return true;
	if (last != 'm')
		return false;
	while (back > 0 && at - back < 12 && (is_digit(bytes[back - 1]) || bytes[back - 1] == ';'))
		back--;
	return back > 0 && bytes[back - 1] == '[';
}

/*
 * Does a word begin at scan->at?  In the middle of a long line its left neighbour is not known at
 * 0.
 */
static bool
word_begins(const struct secret_scan *scan)
{
	size_t at = scan->at;

	if (!secret_name_is_alnum(scan->bytes[at]))
		return false;
	if (at == 0)
		return scan->line_start;
	return !secret_name_is_alnum(scan->bytes[at - 1]) || ends_escape(scan->bytes, at);
}

static bool
has_prefix(const struct secret_scan *scan, const char *prefix, bool any_case)
{
	size_t size = strlen(prefix);
	const char *at = scan->bytes + scan->at;

	if (scan->length - scan->at < size)
		return false;
	return any_case ? strncasecmp(at, prefix, size) == 0 : memcmp(at, prefix, size) == 0;
}

/*
 * Ten characters in a row with a digit and a letter, twelve with a digit, or twenty of any kind:
 * no name of a thing looks so.
 */
static bool
is_mixed(const char *text, size_t length)
{
	bool digit = false, letter = false;
	size_t row = 0;

	for (size_t i = 0; i < length; i++) {
		if (!secret_name_is_alnum(text[i])) {
			row = 0;
			digit = letter = false;
			continue;
		}
		row++;
		digit = digit || is_digit(text[i]);
		letter = letter || !is_digit(text[i]);
		if ((row >= 10 && digit && letter) || (row >= 12 && digit) || row >= 20)
			return true;
	}
	return false;
}

static bool
set_span(
    struct secret_span *span, const char *rule, size_t start, size_t end, enum secret_extent extent)
{
	*span = (struct secret_span){ .rule = rule, .start = start, .end = end, .extent = extent };
	return true;
}

/* Judged by a bounded piece, so that a failure is cheap; and not in the middle of a dashed name. */
static bool
is_no_name(const struct secret_scan *scan, size_t body, enum characters characters)
{
	return (scan->at == 0 || scan->bytes[scan->at - 1] != '-') &&
	    is_mixed(scan->bytes + body, run(scan, body, characters, 64));
}

static bool
is_family(const struct secret_scan *scan, const struct family *family, struct secret_span *span)
{
	size_t body = scan->at + strlen(family->prefix), size;

	if (!has_prefix(scan, family->prefix, family->flags & ANY_CASE))
		return false;
	if ((family->flags & MIXED) && !is_no_name(scan, body, family->characters))
		return false;
	size = run(scan, body, family->characters, family->most ? family->most + 1 : SIZE_MAX);
	if (size < family->least || (family->most && size > family->most))
		return false;
	return set_span(span, family->rule, scan->at, body + size, SECRET_TOKEN);
}

static bool
find_family(const struct secret_scan *scan, struct secret_span *span)
{
	char c = scan->bytes[scan->at], lower = c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;

	for (size_t i = 0; i < FAMILY_COUNT; i++)
		if ((families[i].prefix[0] == c || families[i].prefix[0] == lower) &&
		    is_family(scan, &families[i], span))
			return true;
	return false;
}

/*
 * header.payload, both of them JSON objects in base64url; the run is measured once for all its
 * starts.
 */
static bool
find_jwt(struct secret_scan *scan, struct secret_span *span)
{
	size_t payload;

	if (!has_prefix(scan, "eyJ", false))
		return false;
	if (scan->at >= scan->run_end)
		scan->run_end = scan->at + run(scan, scan->at, URL, SIZE_MAX);
	payload = scan->run_end + 1;
	if (scan->run_end - scan->at < 13 || scan->length < payload + 8 ||
	    memcmp(scan->bytes + scan->run_end, ".eyJ", 4) != 0 || run(scan, payload, URL, 8) < 8)
		return false;
	return set_span(
	    span, "jwt", scan->at, payload + run(scan, payload, DOTTED, SIZE_MAX), SECRET_TOKEN);
}

/* "bearer " and twelve characters that are not just a word. */
static bool
find_bearer(const struct secret_scan *scan, struct secret_span *span)
{
	size_t start = scan->at + 6, size;

	if (!has_prefix(scan, "bearer", true))
		return false;
	while (start < scan->length && start < scan->at + 10 && scan->bytes[start] == ' ')
		start++;
	size = start == scan->at + 6 ? 0 : run(scan, start, BASE64, 64);
	if (size < 12 || !is_mixed(scan->bytes + start, size))
		return false;
	return set_span(
	    span, "bearer_token", start, start + run(scan, start, BASE64, SIZE_MAX), SECRET_TOKEN);
}

/* Words that stand for a password in a text about one. */
static bool
is_stand_in(const char *text, size_t length)
{
	return length == 0 || strchr("$<{%*[", text[0]) ||
	    (length <= 3 && strncmp(text, "...", length) == 0);
}

/* The cursor stands on the colon of "://": user:password up to an @ before the path begins. */
static bool
find_url_password(const struct secret_scan *scan, struct secret_span *span)
{
	size_t start = scan->at + 3, at = start, colon = 0, end = 0;

	if (scan->at == 0 || !secret_name_is_alnum(scan->bytes[scan->at - 1]) ||
	    scan->length - scan->at < 3 || memcmp(scan->bytes + scan->at, "://", 3) != 0)
		return false;
	for (;
	     at < scan->length && at < start + 1024 && !strchr("/?# \t\n\"'`<>\\", scan->bytes[at]);
	     at++) {
		if (scan->bytes[at] == ':' && colon == 0)
			colon = at;
		if (scan->bytes[at] == '@')
			end = at;
	}
	if (colon == 0 || end <= colon + 1 || is_stand_in(scan->bytes + colon + 1, end - colon - 1))
		return false;
	if (scan->length - end > 7 && memcmp(scan->bytes + end, "@sha256:", 8) == 0)
		return false;
	return set_span(span, "url_password", start, end, SECRET_VALUE);
}

static size_t
find_text(const char *bytes, size_t length, size_t from, const char *wanted)
{
	const char *found =
	    from < length ? memmem(bytes + from, length - from, wanted, strlen(wanted)) : NULL;

	return found ? (size_t)(found - bytes) : length;
}

/* "-----BEGIN ... PRIVATE KEY ...-----": from behind it to "-----END". */
static bool
find_block(const struct secret_scan *scan, struct secret_span *span)
{
	size_t label = scan->at + 11, at = label;

	if (!has_prefix(scan, "-----BEGIN ", false))
		return false;
	while (at < scan->length && at < label + 64 &&
	    (belongs(scan->bytes[at], CAPITALS) || scan->bytes[at] == ' '))
		at++;
	if (find_text(scan->bytes, at, label, "PRIVATE KEY") == at || scan->length - at < 5 ||
	    memcmp(scan->bytes + at, "-----", 5) != 0)
		return false;
	return set_span(span, "private_key", at + 5,
	    find_text(scan->bytes, scan->length, at + 5, "-----END"), SECRET_BLOCK);
}

static bool
find_here(struct secret_scan *scan, struct secret_span *span)
{
	switch (scan->bytes[scan->at]) {
	case ':':
		return find_url_password(scan, span) || secret_assign_find(scan, span);
	case '=':
		return secret_assign_find(scan, span);
	case '-':
		return find_block(scan, span);
	default:
		return word_begins(scan) &&
		    (find_family(scan, span) || find_jwt(scan, span) || find_bearer(scan, span));
	}
}

bool
secret_scan_next(struct secret_scan *scan, struct secret_span *span)
{
	for (; scan->at < scan->length; scan->at++) {
		if (!find_here(scan, span))
			continue;
		scan->at = span->end > scan->at ? span->end : scan->at + 1;
		return true;
	}
	return false;
}

size_t
secret_scan_extent(
    const char *bytes, size_t length, size_t from, enum secret_extent extent, char quote)
{
	size_t at = from;

	switch (extent) {
	case SECRET_TOKEN:
		while (at < length && (belongs(bytes[at], BASE64) || bytes[at] == '~'))
			at++;
		return at;
	case SECRET_VALUE:
		while (at < length && !strchr(" \t\n\"'`,;&<>|()[]{}", bytes[at]))
			at++;
		return at;
	case SECRET_QUOTED:
		while (at < length && bytes[at] != quote && bytes[at] != '\n')
			at += bytes[at] == '\\' && at + 1 < length && bytes[at + 1] != '\n' ? 2 : 1;
		return at;
	case SECRET_LINE:
		while (at < length && bytes[at] != '\n')
			at++;
		return at;
	case SECRET_BLOCK:
		return find_text(bytes, length, from, "-----END");
	}
	return length;
}
