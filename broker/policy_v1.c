/* Version 1, the first system's policy file, with its defaults. */
#include <stdio.h>

#include "policy_parts.h"

static bool
read_rules(struct loading *loading, const struct json *list)
{
	static const char *const known[] = { "program", "args_prefix", NULL };
	struct policy *policy = loading->policy;
	size_t count = json_count(list);

	if (list && !json_is_array(list))
		return policy_refuse(loading, list, "allowed_commands must be a list");
	policy->rules = policy_memory(policy, count, sizeof(*policy->rules));
	for (size_t i = 0; i < count; i++) {
		struct rule *rule = &policy->rules[policy->rule_count++];
		const struct json *value = json_at(list, i);
		char where[64], args[80];

		snprintf(where, sizeof(where), "allowed_commands[%zu]", i);
		snprintf(args, sizeof(args), "%s.args_prefix", where);
		rule->extra = EXTRA_ANY;
		rule->limits = policy->limits;
		rule->cage = policy->cage;
		policy_settle_network(&rule->cage);
		if (!policy_read_keys(loading, value, where, known) ||
		    !policy_read_program(loading, value, where, rule) ||
		    !policy_read_texts(
		        loading, json_get(value, "args_prefix"), args, true, &rule->prefix))
			return false;
	}
	return true;
}

static bool
read_roots(struct loading *loading, const struct json *list)
{
	if (list && !json_is_array(list))
		return policy_refuse(
		    loading, list, "allowed_working_roots must be a list of strings");
	for (size_t i = 0; i < json_count(list); i++) {
		char where[64];

		snprintf(where, sizeof(where), "allowed_working_roots[%zu]", i);
		if (!policy_add_root(
		        loading, json_at(list, i), where, json_text(json_at(list, i)), 0))
			return false;
	}
	return true;
}

/* Both sides are compared in lower case; beyond ASCII byte by byte. */
static bool
read_denied(struct loading *loading, const struct json *list)
{
	struct text_list *denied = &loading->policy->denied;

	if (!policy_read_texts(loading, list, "denied_arguments", false, denied))
		return false;
	for (size_t i = 0; i < denied->count; i++) {
		char *copy = (char *)(uintptr_t)denied->items[i];

		for (; *copy; copy++)
			if (*copy >= 'A' && *copy <= 'Z')
				*copy = (char)(*copy + 'a' - 'A');
	}
	return true;
}

/* Names that are never taken are dropped here, not refused: the first system's files list PATH. */
static bool
read_environment(struct loading *loading, const struct json *list)
{
	static const char *const usual[] = { "PATH", "PATHEXT", "SYSTEMROOT", "WINDIR", "TEMP",
		"TMP" };
	struct policy *policy = loading->policy;
	struct text_list names = { .items = (const char **)(uintptr_t)usual, .count = 6 };

	if (!policy_read_texts(loading, list, "environment_allowlist", false, &names))
		return false;
	policy->environment.items = policy_memory(policy, names.count, sizeof(char *));
	policy->dropped.items = policy_memory(policy, names.count, sizeof(char *));
	for (size_t i = 0; i < names.count; i++) {
		enum name_class class = policy_name_class(names.items[i]);
		bool taken = class == NAME_PLAIN || class == NAME_HOOK;
		struct text_list *to = taken ? &policy->environment : &policy->dropped;

		if (taken || list)
			to->items[to->count++] = names.items[i];
	}
	return true;
}

bool
policy_load_v1(struct loading *loading)
{
	static const char *const known[] = { "version", "allowed_commands", "allowed_working_roots",
		"denied_arguments", "environment_allowlist", "max_timeout_seconds",
		"max_output_chars", NULL };
	const struct json *root = loading->root;
	struct policy *policy = loading->policy;

	policy->timeout_seconds = 300;
	policy->limits.keep_bytes = 8000;
	if (!policy_read_keys(loading, root, "the policy", known) ||
	    !policy_read_number(loading, json_get(root, "max_timeout_seconds"),
	        "max_timeout_seconds", 1, LIMIT_TIMEOUT_SECONDS, &policy->timeout_seconds) ||
	    !policy_read_number(loading, json_get(root, "max_output_chars"), "max_output_chars",
	        256, 1000000, &policy->limits.keep_bytes) ||
	    !read_rules(loading, json_get(root, "allowed_commands")) ||
	    !read_roots(loading, json_get(root, "allowed_working_roots")) ||
	    !read_denied(loading, json_get(root, "denied_arguments")) ||
	    !read_environment(loading, json_get(root, "environment_allowlist")))
		return false;
	policy_fix_environment(policy, &(struct text_list){ 0 });
	return true;
}
