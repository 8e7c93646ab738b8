/* Names whose values are secret, judged by their last word parts. */
#include <string.h>

#include "secret_name.h"

#define PART 24 /* longest part that is looked at, with its NUL; a longer one is cut at its front */

static const char *const passwords[] = { "password", "passwd", "passphrase", "pwd", "passwort",
	"passcode", NULL };
static const char *const password_endings[] = { "password", "passwd", "passphrase", NULL };
static const char *const tokens[] = { "secret", "token", "apikey", "credential", "credentials",
	"authtoken", "accesstoken", "refreshtoken", "apitoken", "bearertoken", "sessiontoken",
	"clientsecret", "apisecret", "appsecret", "secretkey", "accesskey", "privatekey", "authkey",
	"signingkey", "encryptionkey", "authkeys", NULL };

/* "access key" is one, "sort key" is none. */
static const char *const before_key[] = { "api", "access", "private", "secret", "auth", "signing",
	"encryption", "account", "shared", "master", "service", "deploy", "app", "application",
	"client", "storage", "subscription", "admin", "webhook", NULL };

/* "no password", "next token", "pad token": no secret follows. */
static const char *const before_none[] = { "no", "not", "without", "skip", "public", "next", "page",
	"continuation", "eos", "bos", "pad", "unk", "sep", "cls", "mask", "stop", "start", "end",
	"special", "first", "last", "prev", "ask", "prompt", "show", "hide", "max", "min", "num",
	NULL };

bool
secret_name_is_alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool
secret_name_has(char c)
{
	return secret_name_is_alnum(c) || c == '_' || c == '.' || c == '-';
}

static bool
is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool
is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

/* Take the last part off name[0..*length), in lower case; empty when there is none. */
static void
take_part(const char *name, size_t *length, char part[PART])
{
	size_t end, start, size;

	while (*length > 0 && !secret_name_is_alnum(name[*length - 1]))
		--*length;
	end = start = *length;
	while (start > 0 && secret_name_is_alnum(name[start - 1]) &&
	    !(start < end && is_lower(name[start - 1]) && is_upper(name[start])))
		start--;
	*length = start;
	if (end - start >= PART)
		start = end - PART + 1;
	size = end - start;
	for (size_t i = 0; i < size; i++)
		part[i] = is_upper(name[start + i]) ? (char)(name[start + i] + 'a' - 'A')
		                                    : name[start + i];
	part[size] = '\0';
}

static bool
is_one_of(const char *part, const char *const *list)
{
	while (*list && strcmp(*list, part) != 0)
		list++;
	return *list;
}

static bool
ends_like(const char *part, const char *const *list)
{
	size_t length = strlen(part);

	for (; *list; list++)
		if (length >= strlen(*list) && strcmp(part + length - strlen(*list), *list) == 0)
			return true;
	return false;
}

enum secret_name
secret_name_of(const char *name, size_t length)
{
	size_t left = length;
	char last[PART], before[PART];

	if (length >= 5 && memcmp(name + length - 5, "_auth", 5) == 0 &&
	    (length == 5 || name[length - 6] == '_'))
		return SECRET_NAME_TOKEN;
	take_part(name, &left, last);
	take_part(name, &left, before);
	if (is_one_of(before, before_none))
		return SECRET_NAME_NONE;
	if (is_one_of(last, passwords) || ends_like(last, password_endings))
		return SECRET_NAME_PASSWORD;
	if (is_one_of(last, tokens) || (strcmp(last, "pass") == 0 && before[0]) ||
	    (strcmp(last, "key") == 0 && is_one_of(before, before_key)))
		return SECRET_NAME_TOKEN;
	if (strcmp(last, "authorization") == 0 || strcmp(last, "cookie") == 0)
		return SECRET_NAME_HEADER;
	return SECRET_NAME_NONE;
}
