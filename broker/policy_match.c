/* Arguments against a rule: whole elements, nothing is parsed or joined. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "policy_parts.h"

const char *
policy_last_component(const char *program)
{
	const char *slash = strrchr(program, '/');

	return slash ? slash + 1 : program;
}

bool
policy_because(char *why, size_t size, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(why, size, format, arguments);
	va_end(arguments);
	return false;
}

/* '*' stands for any text; linear but for one step back. */
static bool
is_like(const char *text, const char *pattern)
{
	const char *star = NULL, *resume = NULL;

	while (*text) {
		if (*pattern == '*') {
			star = pattern++;
			resume = text;
		} else if (*pattern == *text) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star + 1;
			text = ++resume;
		} else {
			return false;
		}
	}
	return pattern[strspn(pattern, "*")] == '\0';
}

/* wide: as in a refusal, where getopt's abbreviations "--ou" of "--output" count too. */
static bool
is_option(const char *argument, const char *option, bool wide)
{
	size_t length = strcspn(argument, "=");

	if (strncmp(argument, option, length) != 0)
		return false;
	return option[length] == '\0' || (wide && length > 2);
}

/* "-xf": wide, when one of the letters is in it; else when it is made of them alone. */
static bool
is_cluster(const char *argument, const char *letters, bool wide)
{
	if (argument[0] != '-' || argument[1] == '-' || argument[1] == '\0')
		return false;
	if (wide)
		return argument[1 + strcspn(argument + 1, letters)] != '\0';
	return argument[1 + strspn(argument + 1, letters)] == '\0';
}

static bool
meets(const struct condition *condition, const char *argument, bool wide)
{
	switch (condition->kind) {
	case CONDITION_ARG:
		return strcmp(argument, condition->text) == 0;
	case CONDITION_PREFIX:
		return strncmp(argument, condition->text, strlen(condition->text)) == 0;
	case CONDITION_LIKE:
		return is_like(argument, condition->text);
	case CONDITION_OPTION:
		return is_option(argument, condition->text, wide);
	case CONDITION_SHORT:
		return is_cluster(argument, condition->text, wide);
	}
	return true;
}

/* The index of a condition that the argument meets, or -1. */
static int
find_condition(const struct condition_list *list, const char *argument, bool wide)
{
	for (size_t i = 0; i < list->count; i++)
		if (meets(&list->items[i], argument, wide))
			return (int)i;
	return -1;
}

/* Prefix, suffix and how much stands between them. */
static bool
shape_fits(const struct rule *rule, const struct policy_request *request, char *why, size_t size)
{
	const char *const *arguments = request->argv + 1;
	size_t count = request->argc - 1, fixed = rule->prefix.count + rule->suffix.count;

	for (size_t i = 0; i < rule->prefix.count; i++)
		if (i >= count || strcmp(arguments[i], rule->prefix.items[i]) != 0)
			return policy_because(why, size,
			    "argument %zu is not the one that the rule begins with", i + 1);
	if (count < fixed)
		return policy_because(
		    why, size, "%zu arguments are fewer than the rule wants", count);
	for (size_t i = 0; i < rule->suffix.count; i++) {
		size_t at = count - rule->suffix.count + i;

		if (strcmp(arguments[at], rule->suffix.items[i]) != 0)
			return policy_because(why, size,
			    "argument %zu is not the one that the rule ends with", at + 1);
	}
	if (count - fixed > rule->extra)
		return policy_because(
		    why, size, "%zu arguments are more than the rule allows", count);
	return true;
}

static bool
allowing_conditions_hold(
    const struct rule *rule, const struct policy_request *request, char *why, size_t size)
{
	for (size_t i = 1 + rule->prefix.count; i < request->argc - rule->suffix.count; i++) {
		int refused = find_condition(&rule->not_match, request->argv[i], true);

		if (refused >= 0)
			return policy_because(
			    why, size, "argument %zu is refused by not_match[%d]", i, refused);
		if (rule->match.count > 0 &&
		    find_condition(&rule->match, request->argv[i], false) < 0)
			return policy_because(
			    why, size, "argument %zu is none that match names", i);
	}
	return true;
}

static bool
denying_conditions_hold(
    const struct rule *rule, const struct policy_request *request, char *why, size_t size)
{
	if (rule->match.count == 0)
		return true;
	for (size_t i = 1 + rule->prefix.count; i < request->argc - rule->suffix.count; i++)
		if (find_condition(&rule->match, request->argv[i], true) >= 0)
			return true;
	return policy_because(why, size, "no argument is one that match names");
}

/* An unknown digest allows nothing and is no way out of a denial. */
static bool
digest_fits(const struct rule *rule, const struct policy_request *request, char *why, size_t size)
{
	if (rule->digest_count == 0)
		return true;
	if (!request->program_sha256 && rule->effect == EFFECT_DENY)
		return true;
	for (size_t i = 0; request->program_sha256 && i < rule->digest_count; i++)
		if (memcmp(rule->digests[i], request->program_sha256, 32) == 0)
			return true;
	return policy_because(why, size, "the program's digest is none of the rule's");
}

bool
policy_rule_applies(
    const struct rule *rule, const struct policy_request *request, char *why, size_t size)
{
	why[0] = '\0';
	if (!digest_fits(rule, request, why, size) || !shape_fits(rule, request, why, size))
		return false;
	if (rule->effect == EFFECT_DENY)
		return denying_conditions_hold(rule, request, why, size);
	if (rule->timeout_seconds && request->timeout_seconds > rule->timeout_seconds)
		return policy_because(why, size,
		    "the timeout is longer than the rule's %llu seconds",
		    (unsigned long long)rule->timeout_seconds);
	return allowing_conditions_hold(rule, request, why, size);
}
