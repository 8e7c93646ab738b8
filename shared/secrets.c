/* The first secret in a text or in an argv.  The words of secrets.h; the work is in secret_*.c. */
#include <stdlib.h>
#include <string.h>

#include "scope.h"
#include "secret_assign.h"
#include "secret_name.h"
#include "secret_scan.h"
#include "secret_visible.h"
#include "secrets.h"

bool
secret_in_text(const char *text, size_t length, struct secret_finding *finding)
{
	scoped_free char *visible = malloc(length + 1);
	scoped_free uint32_t *position = calloc(length + 1, sizeof(*position));
	struct secret_scan scan = { .bytes = visible, .line_start = true };
	struct secret_span span;

	*finding = (struct secret_finding){ 0 };
	if (!visible || !position || length > UINT32_MAX) {
		finding->rule = "not_checked"; /* what could not be looked at is not let through */
		finding->length = length;
		return true;
	}
	scan.length = secret_visible(text, length, visible, position);
	while (secret_scan_next(&scan, &span)) {
		if (span.end == span.start)
			continue;
		finding->rule = span.rule;
		finding->at = position[span.start];
		finding->length = position[span.end - 1] + 1 - finding->at;
		return true;
	}
	return false;
}

/* --- an argv --- */

enum form {
	NEXT = 1 << 0,     /* the value is the next element */
	JOINED = 1 << 1,   /* it stands behind the option in the same element */
	USERINFO = 1 << 2, /* only what follows a colon is secret, and there must be one */
};

/* Options that take a password and do not say so. */
static const struct {
	const char *program, *option;
	unsigned form;
} options[] = {
	{ "curl", "-u", NEXT | JOINED | USERINFO },
	{ "curl", "--user", NEXT | USERINFO },
	{ "curl", "-U", NEXT | JOINED | USERINFO },
	{ "curl", "--proxy-user", NEXT | USERINFO },
	{ "curl", "--user=", JOINED | USERINFO },
	{ "curl", "--proxy-user=", JOINED | USERINFO },
	{ "http", "-a", NEXT | JOINED | USERINFO },
	{ "http", "--auth", NEXT | USERINFO },
	{ "https", "-a", NEXT | JOINED | USERINFO },
	{ "https", "--auth", NEXT | USERINFO },
	{ "xh", "-a", NEXT | JOINED | USERINFO },
	{ "ab", "-A", NEXT | JOINED | USERINFO },
	{ "mysql", "-p", JOINED },
	{ "mysqldump", "-p", JOINED },
	{ "mysqladmin", "-p", JOINED },
	{ "mysqlimport", "-p", JOINED },
	{ "mariadb", "-p", JOINED },
	{ "mariadb-dump", "-p", JOINED },
	{ "sshpass", "-p", NEXT | JOINED },
	{ "redis-cli", "-a", NEXT | JOINED },
	{ "redis-cli", "--pass", NEXT },
	{ "mongo", "-p", NEXT | JOINED },
	{ "mongosh", "-p", NEXT | JOINED },
	{ "mongodump", "-p", NEXT | JOINED },
	{ "ldapsearch", "-w", NEXT | JOINED },
	{ "ldapmodify", "-w", NEXT | JOINED },
	{ "ldapadd", "-w", NEXT | JOINED },
	{ "docker", "-p", NEXT | USERINFO },
	{ "zip", "-P", NEXT | JOINED },
	{ "unzip", "-P", NEXT | JOINED },
	{ "7z", "-p", JOINED },
	{ "7za", "-p", JOINED },
	{ "7zr", "-p", JOINED },
};
#define OPTION_COUNT (sizeof(options) / sizeof(options[0]))

/* One element of an argv; not NUL-terminated for our purposes. */
struct element {
	const char *text;
	size_t length;
};

static struct element
last_component(struct element path)
{
	const char *slash = memrchr(path.text, '/', path.length);

	if (!slash)
		return path;
	return (struct element){ slash + 1, path.length - (size_t)(slash + 1 - path.text) };
}

static bool
is_text(struct element element, const char *text)
{
	return element.length == strlen(text) && memcmp(element.text, text, element.length) == 0;
}

static bool
begins_with(struct element element, const char *text)
{
	return element.length > strlen(text) && memcmp(element.text, text, strlen(text)) == 0;
}

static bool
report(struct secret_finding *finding, const char *rule, size_t at, size_t length)
{
	*finding = (struct secret_finding){ .rule = rule, .at = at, .length = length };
	return true;
}

/* The value of an option, from `at` on. */
static bool
judge_value(struct element element, size_t at, unsigned form, struct secret_finding *finding)
{
	const char *colon = memchr(element.text + at, ':', element.length - at);

	if (form & USERINFO) {
		if (!colon)
			return false;
		at = (size_t)(colon + 1 - element.text);
	}
	if (!secret_assign_is_value(element.text + at, element.length - at, true))
		return false;
	return report(finding, "option_password", at, element.length - at);
}

/* `--token X`: the name says it. */
static bool
is_secret_option(struct element element)
{
	size_t dashes = 0;

	while (dashes < element.length && dashes < 2 && element.text[dashes] == '-')
		dashes++;
	if (dashes == 0 || element.length - dashes < 3 || element.length > 64)
		return false;
	for (size_t i = dashes; i < element.length; i++)
		if (!secret_name_has(element.text[i]))
			return false;
	return secret_name_of(element.text, element.length) != SECRET_NAME_NONE;
}

/* Judge elements[at], and elements[at + 1] when there is one, by this program's options. */
static bool
judge_options(struct element program, const struct element *elements, bool more, size_t *index,
    struct secret_finding *finding)
{
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		if (!is_text(program, options[i].program))
			continue;
		if ((options[i].form & JOINED) && begins_with(elements[0], options[i].option) &&
		    judge_value(elements[0], strlen(options[i].option), options[i].form, finding))
			return true;
		if ((options[i].form & NEXT) && more && is_text(elements[0], options[i].option) &&
		    judge_value(elements[1], 0, options[i].form, finding)) {
			++*index;
			return true;
		}
	}
	return false;
}

static bool
is_known_program(struct element element)
{
	for (size_t i = 0; i < OPTION_COUNT; i++)
		if (is_text(element, options[i].program))
			return true;
	return false;
}

bool
secret_in_argv(const char *const *argv, const size_t *lengths, size_t count, size_t *index,
    struct secret_finding *finding)
{
	return secret_in_argv_but(argv, lengths, count, NULL, index, finding);
}

bool
secret_in_argv_but(const char *const *argv, const size_t *lengths, size_t count, const bool *passed,
    size_t *index, struct secret_finding *finding)
{
	struct element program = { "", 0 };

	for (size_t i = 0; i < count; i++) {
		const bool more = i + 1 < count;
		const struct element pair[2] = { { argv[i], lengths[i] },
			{ more ? argv[i + 1] : "", more ? lengths[i + 1] : 0 } };

		*index = i;
		if (secret_in_text(argv[i], lengths[i], finding) && !(passed && passed[i]))
			return true;
		if (judge_options(program, pair, more, index, finding) && !(passed && passed[*index]))
			return true;
		*index = i + 1;
		if (more && is_secret_option(pair[0]) && !(passed && passed[i + 1]) &&
		    secret_assign_is_value(pair[1].text, pair[1].length, true))
			return report(finding, "option_secret", 0, pair[1].length);
		/* `env curl -u ..`: the program may be any element so far */
		if (is_known_program(last_component(pair[0])))
			program = last_component(pair[0]);
	}
	return false;
}
