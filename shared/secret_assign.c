/*
 * Assignments.  `name=value` without blanks is how environments and options look: any value but a
 * stand-in, a path, a number or a piece of program text counts.  `name = value` and `name: value`
 * are prose and program text as well: there the value must look like chance, or stand in quotes.
 */
#include <string.h>
#include <strings.h>

#include "secret_assign.h"
#include "secret_name.h"

#define JUDGED 64 /* bytes of a value that a judgement looks at */

/* What stands where a secret could. */
static const char *const stand_ins[] = { "null", "nil", "none", "true", "false", "yes", "no", "on",
	"off", "undefined", "string", "str", "text", "bytes", "required", "optional", "redacted",
	"hidden", "masked", "empty", "unset", "default", "env", "stdin", "prompt", "self", "this",
	NULL };

/* One assignment while it is looked at. */
struct assignment {
	const struct secret_scan *scan;
	enum secret_name name;
	size_t name_at, value_at;
	bool blanks;       /* around the sign */
	bool quoted_name;
	char quote;        /* of the value; 0: none */
	bool escaped;      /* the value's quotes stand behind backslashes */
	bool equals;       /* '=' and not ':' */
};

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_quote(char c)
{
	return c == '"' || c == '\'' || c == '`';
}

static size_t
digits_of(const char *text, size_t length)
{
	size_t size = 0;

	while (size < length && (is_digit(text[size]) || text[size] == '.' || text[size] == ','))
		size++;
	return size;
}

/*
 * "/run/x", "./x", "~/x": a second slash or a dot, or short; a base64 value may begin with a slash
 * too.
 */
static bool
is_path(const char *text, size_t length)
{
	if (length >= 2 && (memcmp(text, "./", 2) == 0 || memcmp(text, "~/", 2) == 0))
		return true;
	if (length >= 3 && memcmp(text, "../", 3) == 0)
		return true;
	return length > 0 && text[0] == '/' &&
	    (length <= 16 || memchr(text + 1, '/', length - 1) || memchr(text, '.', length));
}

static bool
is_stand_in(const char *text, size_t length)
{
	if (length == 0 || strchr("$<{%*[(", text[0]) ||
	    (length >= 3 && strspn(text, "xX.") >= length))
		return true;
	for (size_t i = 0; stand_ins[i]; i++)
		if (strlen(stand_ins[i]) == length && strncasecmp(stand_ins[i], text, length) == 0)
			return true;
	return false;
}

/*
 * Where the value's first JUDGED bytes end; in quotes a backslash takes the next character along.
 */
static size_t
judged_length(const char *text, size_t length, char quote)
{
	size_t most = length < JUDGED ? length : JUDGED;

	return secret_scan_extent(text, most, 0, quote ? SECRET_QUOTED : SECRET_VALUE, quote);
}

/*
 * `getpass(`, `tokens[i]`, `self.token`, or the name again as in `password=password`: program text,
 * without a digit.
 */
static bool
is_program_text(const struct assignment *it, const char *text, size_t size)
{
	const char *name = it->scan->bytes + it->name_at;
	size_t left = it->scan->length - it->value_at;

	for (size_t i = 0; i < size; i++)
		if (!secret_name_has(text[i]) || is_digit(text[i]) || text[i] == '-')
			return false;
	if (size < left && (text[size] == '(' || text[size] == '['))
		return true;
	if (memchr(text, '_', size) || memchr(text, '.', size))
		return secret_name_of(text, size) != SECRET_NAME_NONE;
	return strncasecmp(name, text, size) == 0 && !secret_name_has(name[size]);
}

bool
secret_assign_is_value(const char *text, size_t length, bool number_counts)
{
	size_t size = length < JUDGED ? length : JUDGED;

	if (is_stand_in(text, size) || is_path(text, size) || text[0] == '-')
		return false;
	return number_counts || digits_of(text, length) < length;
}

/* Six characters with a digit and a letter, or twenty of them. */
static bool
looks_like_chance(const char *text, size_t size)
{
	bool digit = false, letter = false;

	for (size_t i = 0; i < size; i++) {
		digit = digit || is_digit(text[i]);
		letter = letter || (secret_name_is_alnum(text[i]) && !is_digit(text[i]));
	}
	return (size >= 6 && digit && letter) ||
	    (size >= 20 && secret_scan_extent(text, size, 0, SECRET_TOKEN, 0) == size);
}

static size_t
skip_blanks(const struct secret_scan *scan, size_t at)
{
	size_t start = at;

	while (at < scan->length && at < start + 16 &&
	    (scan->bytes[at] == ' ' || scan->bytes[at] == '\t'))
		at++;
	return at;
}

/* Backwards from the sign: blanks, a closing quote perhaps, the name. */
static bool
find_name(struct assignment *it)
{
	const char *bytes = it->scan->bytes;
	size_t end = it->scan->at, start;

	if (end > 0 && it->equals && bytes[end - 1] == ':')
		end--;
	start = end;
	while (end > 0 && start - end < 16 && (bytes[end - 1] == ' ' || bytes[end - 1] == '\t'))
		end--;
	it->blanks = end < start;
	if (end > 0 && is_quote(bytes[end - 1])) {
		it->quoted_name = true;
		end--;
		if (end > 0 && bytes[end - 1] == '\\')
			end--;
	}
	for (start = end; start > 0 && end - start < 64 && secret_name_has(bytes[start - 1]);)
		start--;
	it->name_at = start;
	it->name = end - start < 3 ? SECRET_NAME_NONE : secret_name_of(bytes + start, end - start);
	return it->name != SECRET_NAME_NONE;
}

/* Forwards from the sign: the rest of "=>" or ":=", blanks, an opening quote perhaps. */
static bool
find_value(struct assignment *it)
{
	const struct secret_scan *scan = it->scan;
	size_t at = scan->at + 1, start;

	if (at < scan->length && it->equals && scan->bytes[at] == '>')
		at++;
	if (at < scan->length && (scan->bytes[at] == '=' || scan->bytes[at] == ':'))
		return false;
	start = at;
	at = skip_blanks(scan, at);
	it->blanks = it->blanks || at > start;
	if (at + 1 < scan->length && scan->bytes[at] == '\\' && is_quote(scan->bytes[at + 1])) {
		it->escaped = true;
		at++;
	}
	if (at < scan->length && is_quote(scan->bytes[at]))
		it->quote = scan->bytes[at++];
	it->value_at = at;
	return at < scan->length && scan->bytes[at] != '\n';
}

static bool
set_span(struct secret_span *span, const char *rule, size_t start, size_t end,
    enum secret_extent extent, char quote)
{
	*span = (struct secret_span){
		.rule = rule, .start = start, .end = end, .extent = extent, .quote = quote
	};
	return end > start;
}

/*
 * Authorization and Cookie: what follows the scheme, to the closing quote or the end of the line.
 */
static bool
judge_header(const struct assignment *it, struct secret_span *span)
{
	static const char *const schemes[] = { "basic", "bearer", "digest", "token", "negotiate",
		"apikey", "key", "ntlm", "aws4-hmac-sha256", NULL };
	const struct secret_scan *scan = it->scan;
	size_t start = it->value_at, size = 0, end;
	bool known = false;

	while (start + size < scan->length && size < JUDGED &&
	    secret_name_has(scan->bytes[start + size]))
		size++;
	for (size_t i = 0; schemes[i]; i++)
		known = known ||
		    (strlen(schemes[i]) == size &&
		        strncasecmp(schemes[i], scan->bytes + start, size) == 0);
	if (known)
		start = skip_blanks(scan, start + size);
	size = judged_length(scan->bytes + start, scan->length - start, 0);
	if (!secret_assign_is_value(scan->bytes + start, size, false))
		return false;
	if (!known && !looks_like_chance(scan->bytes + start, size) &&
	    !memchr(scan->bytes + start, '=', size))
		return false;
	for (end = start;
	     end < scan->length && scan->bytes[end] != '\n' && !is_quote(scan->bytes[end]);)
		end++;
	return set_span(span, "authorization", start, end, SECRET_LINE, 0);
}

static bool
judge_quoted(const struct assignment *it, const char *rule, struct secret_span *span)
{
	const struct secret_scan *scan = it->scan;
	size_t start = it->value_at, left = scan->length - start, end;
	size_t size = judged_length(scan->bytes + start, left, it->escaped ? '\\' : it->quote);

	if (size < 3 ||
	    !secret_assign_is_value(scan->bytes + start, size, it->name == SECRET_NAME_PASSWORD))
		return false;
	if (it->escaped) {
		for (end = start;
		     end < scan->length && !is_quote(scan->bytes[end]) && scan->bytes[end] != '\n';)
			end++;
		if (end < scan->length && end > start && scan->bytes[end - 1] == '\\')
			end--;
	} else {
		end =
		    secret_scan_extent(scan->bytes, scan->length, start, SECRET_QUOTED, it->quote);
	}
	return set_span(span, rule, start, end, SECRET_QUOTED, it->quote);
}

/* A passphrase goes on over words, up to one that is an assignment itself. */
static size_t
passphrase_end(const struct secret_scan *scan, size_t end)
{
	while (end + 1 < scan->length && scan->bytes[end] == ' ') {
		size_t word =
		    secret_scan_extent(scan->bytes, scan->length, end + 1, SECRET_VALUE, 0);

		if (word == end + 1 || memchr(scan->bytes + end, '=', word - end))
			return end;
		end = word;
	}
	return end;
}

/*
 * Nothing but "export " or "set " stands before the name on its line: the value is the rest of the
 * line.
 */
static bool
owns_line(const struct assignment *it)
{
	const struct secret_scan *scan = it->scan;
	size_t at = it->name_at;

	if (at >= 7 && memcmp(scan->bytes + at - 7, "export ", 7) == 0)
		at -= 7;
	else if (at >= 4 && memcmp(scan->bytes + at - 4, "set ", 4) == 0)
		at -= 4;
	return (at == 0 && scan->line_start) || (at > 0 && scan->bytes[at - 1] == '\n');
}

static bool
judge_plain(const struct assignment *it, const char *rule, struct secret_span *span)
{
	const struct secret_scan *scan = it->scan;
	const char *value = scan->bytes + it->value_at;
	size_t left = scan->length - it->value_at, size = judged_length(value, left, 0), end;
	bool tight = it->equals && !it->blanks;

	if (!secret_assign_is_value(value, size, tight && it->name == SECRET_NAME_PASSWORD) ||
	    is_program_text(it, value, size) || (!tight && !looks_like_chance(value, size)))
		return false;
	if (tight && owns_line(it))
		return set_span(span, rule, it->value_at,
		    secret_scan_extent(scan->bytes, scan->length, it->value_at, SECRET_LINE, 0),
		    SECRET_LINE, 0);
	end = secret_scan_extent(scan->bytes, scan->length, it->value_at, SECRET_VALUE, 0);
	if (tight && it->name == SECRET_NAME_PASSWORD)
		end = passphrase_end(scan, end);
	return set_span(span, rule, it->value_at, end, SECRET_VALUE, 0);
}

bool
secret_assign_find(const struct secret_scan *scan, struct secret_span *span)
{
	struct assignment it = { .scan = scan, .equals = scan->bytes[scan->at] == '=' };
	const char *rule;

	if (!find_name(&it) || !find_value(&it))
		return false;
	rule = it.name == SECRET_NAME_PASSWORD ? "password" : "named_secret";
	if (it.name == SECRET_NAME_HEADER)
		return judge_header(&it, span);
	return it.quote ? judge_quoted(&it, rule, span) : judge_plain(&it, rule, span);
}
