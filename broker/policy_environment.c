/* Names of variables: which may come from a caller, which every job gets. */
#include <stdio.h>
#include <string.h>

#include "policy_parts.h"
#include "secrets.h"

/* Set by us alone. */
static const char *const ours[] = { "PATH", "HOME", "TMPDIR", "USER", "SHELL", NULL };

/* Read by the C library before or below the program, beside LD_*. */
static const char *const loader[] = { "GCONV_PATH", "GLIBC_TUNABLES", NULL };

/* They make a program run or load what they name. */
static const char *const hooks[] = { "BASH_ENV", "ENV", "IFS", "PS4", "PROMPT_COMMAND", "SHELLOPTS",
	"BASHOPTS", "CDPATH", "ZDOTDIR", "PAGER", "MANPAGER", "LESSOPEN", "LESSCLOSE", "EDITOR",
	"VISUAL", "BROWSER", "RIPGREP_CONFIG_PATH", "NODE_OPTIONS", "NODE_PATH", "MAKEFLAGS",
	"MFLAGS", "GNUMAKEFLAGS", "RUSTC_WRAPPER", "RUSTFLAGS", "GOFLAGS", "JAVA_TOOL_OPTIONS",
	"_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH", "LUA_INIT", "LUA_PATH", "LUA_CPATH",
	"PHPRC", "PHP_INI_SCAN_DIR", "TCLLIBPATH", "R_PROFILE", "CC", "CXX", "LOCPATH", "NLSPATH",
	"TERMINFO", "SSH_ASKPASS", "SUDO_ASKPASS", "NIX_LD", "OPENSSL_CONF", "OPENSSL_MODULES",
	NULL };
static const char *const hook_beginnings[] = { "GIT_", "PYTHON", "PERL", "RUBY", "DYLD_",
	"npm_config_", "NPM_CONFIG_", "CARGO_", "LESS", NULL };
static const char *const hook_endings[] = { "_COMMAND", "_PRELOAD", "_PAGER", "_EDITOR", "_WRAPPER",
	NULL };

static bool
is_listed(const char *name, const char *const *list)
{
	while (*list && strcmp(*list, name) != 0)
		list++;
	return *list;
}

static bool
begins_with_listed(const char *name, const char *const *list)
{
	while (*list && strncmp(*list, name, strlen(*list)) != 0)
		list++;
	return *list;
}

static bool
ends_with_listed(const char *name, const char *const *list)
{
	size_t length = strlen(name);

	for (; *list; list++)
		if (length >= strlen(*list) && strcmp(name + length - strlen(*list), *list) == 0)
			return true;
	return false;
}

static bool
is_name(const char *name)
{
	static const char letters[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";

	return *name && !(*name >= '0' && *name <= '9') && name[strspn(name, letters)] == '\0';
}

static bool
is_loader(const char *name)
{
	return strncmp(name, "LD_", 3) == 0 || is_listed(name, loader);
}

enum name_class
policy_name_class(const char *name)
{
	if (!is_name(name))
		return NAME_BAD;
	if (is_listed(name, ours) || is_loader(name))
		return NAME_RESERVED;
	if (is_listed(name, hooks) || begins_with_listed(name, hook_beginnings) ||
	    ends_with_listed(name, hook_endings))
		return NAME_HOOK;
	return NAME_PLAIN;
}

bool
policy_read_allowlist(struct loading *loading, const struct json *value)
{
	struct text_list *names = &loading->policy->environment;

	if (!policy_read_texts(loading, value, "environment_allowlist", false, names))
		return false;
	if (names->count > LIMIT_ENV_COUNT)
		return policy_refuse(loading, value, "environment_allowlist has more than %d names",
		    LIMIT_ENV_COUNT);
	for (size_t i = 0; i < names->count; i++) {
		enum name_class class = policy_name_class(names->items[i]);

		if (class == NAME_BAD)
			return policy_refuse(loading, json_at(value, i),
			    "environment_allowlist[%zu] is no name of a variable", i);
		if (class == NAME_RESERVED)
			return policy_refuse(loading, json_at(value, i),
			    "environment_allowlist[%zu] is never taken from a caller", i);
	}
	return true;
}

static bool
variable_is_good(struct loading *loading, const struct json *member, const char *name)
{
	if (policy_name_class(name) == NAME_BAD)
		return policy_refuse(
		    loading, member, "environment has a key that is no name of a variable");
	if (strcmp(name, "PATH") == 0)
		return policy_refuse(loading, member, "environment sets PATH: say it with path");
	if (is_loader(name))
		return policy_refuse(loading, member, "environment sets a variable of the loader");
	if (!json_text(member))
		return policy_refuse(
		    loading, member, "the values of environment must be strings");
	return true;
}

/* They are shown, stored and part of a digest: no place for a secret. */
static bool
holds_secret(const char *variable)
{
	struct secret_finding finding;

	return secret_in_text(variable, strlen(variable), &finding);
}

static const char *
join_variable(struct policy *policy, const char *name, const char *value)
{
	size_t size = strlen(name) + 1 + strlen(value) + 1;
	char *text = policy_memory(policy, size, 1);

	snprintf(text, size, "%s=%s", name, value);
	return text;
}

bool
policy_read_environment(struct loading *loading, const struct json *value)
{
	struct text_list own = { 0 };

	if (value && !json_is_object(value))
		return policy_refuse(loading, value, "environment must be an object");
	if (json_count(value) > LIMIT_ENV_COUNT / 2)
		return policy_refuse(
		    loading, value, "environment has more than %d variables", LIMIT_ENV_COUNT / 2);
	own.items = policy_memory(loading->policy, json_count(value), sizeof(*own.items));
	for (size_t i = 0; i < json_count(value); i++) {
		const struct json *member = json_at(value, i);

		if (!variable_is_good(loading, member, json_key_at(value, i)))
			return false;
		own.items[own.count] =
		    join_variable(loading->policy, json_key_at(value, i), json_text(member));
		if (holds_secret(own.items[own.count++]))
			return policy_refuse(
			    loading, member, "environment holds what looks like a secret");
	}
	policy_fix_environment(loading->policy, &own);
	return true;
}

/* Is a variable of this text's name in the list? */
static bool
is_set(const struct text_list *list, const char *variable)
{
	size_t length = strcspn(variable, "=") + 1;

	for (size_t i = 0; i < list->count; i++)
		if (strncmp(list->items[i], variable, length) == 0)
			return true;
	return false;
}

void
policy_fix_environment(struct policy *policy, const struct text_list *own)
{
	static const char *const usual[] = { "HOME=/tmp", "TMPDIR=/tmp", "USER=job",
		"SHELL=/bin/sh", "LANG=C.UTF-8", "TERM=dumb", "PAGER=cat", "GIT_PAGER=cat" };
	const size_t count = sizeof(usual) / sizeof(usual[0]);
	struct text_list *fixed = &policy->fixed;

	fixed->items = policy_memory(policy, 1 + count + own->count, sizeof(*fixed->items));
	fixed->items[fixed->count++] = join_variable(policy, "PATH", policy->search_path);
	for (size_t i = 0; i < count; i++)
		if (!is_set(own, usual[i]))
			fixed->items[fixed->count++] = usual[i];
	for (size_t i = 0; i < own->count; i++)
		fixed->items[fixed->count++] = own->items[i];
}

static bool
same_letters(const char *a, const char *b)
{
	for (; *a || *b; a++, b++) {
		char x = *a >= 'a' && *a <= 'z' ? (char)(*a - 'a' + 'A') : *a;
		char y = *b >= 'a' && *b <= 'z' ? (char)(*b - 'a' + 'A') : *b;

		if (x != y)
			return false;
	}
	return true;
}

bool
policy_allows_environment(const struct policy *policy, const char *name)
{
	enum name_class class = policy_name_class(name);

	if (class == NAME_BAD || class == NAME_RESERVED)
		return false;
	for (size_t i = 0; i < policy->environment.count; i++) {
		const char *listed = policy->environment.items[i];

		if (policy->version == 1 ? same_letters(listed, name) : strcmp(listed, name) == 0)
			return true;
	}
	return false;
}
