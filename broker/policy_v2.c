/* Version 2: its sections.  Rules are read by policy_rule.c. */
#include <stdio.h>
#include <string.h>

#include "boot.h"
#include "plan.h"
#include "policy_parts.h"
#include "text.h"

static bool
read_rules(struct loading *loading, const struct json *list)
{
	struct policy *policy = loading->policy;
	size_t count = json_count(list);

	if (list && !json_is_array(list))
		return policy_refuse(loading, list, "rules must be a list");
	policy->rules = policy_memory(policy, count, sizeof(*policy->rules));
	for (size_t i = 0; i < count; i++)
		if (!policy_read_rule(
		        loading, json_at(list, i), i, &policy->rules[policy->rule_count++]))
			return false;
	policy_settle_network(&policy->cage); /* the rules have made theirs of it; hooks run in it */
	return true;
}

/* What is protected in its depths: a flag of boot.h in *sum. */
static bool
read_nested(struct loading *loading, const struct json *value, const char *where, uint64_t *sum)
{
	const struct json *given = json_get(value, "nested");
	const char *text = json_text(given);

	if (!given)
		return true;
	if (text && strcmp(text, "repositories") == 0)
		*sum |= ROOT_NESTED_REPOSITORIES;
	else if (text && strcmp(text, "off") == 0)
		*sum |= ROOT_NESTED_OFF;
	else if (!text || strcmp(text, "protected") != 0)
		return policy_refuse(loading, given,
		    "%s.nested must be \"protected\", \"repositories\" or \"off\"", where);
	return true;
}

/* {path, shared, root_owned, read_only, nested} */
static bool
read_root_object(struct loading *loading, const struct json *value, const char *where)
{
	static const struct {
		const char *key;
		uint64_t flag;
	} flags[] = {
		{ "shared", ROOT_SHARED },
		{ "root_owned", ROOT_ROOT_OWNED },
		{ "read_only", ROOT_READ_ONLY },
	};
	static const char *const known[] = { "path", "shared", "root_owned", "read_only", "nested", NULL };
	uint64_t sum = 0;

	if (!policy_read_keys(loading, value, where, known))
		return false;
	for (size_t i = 0; i < 3; i++) {
		const struct json *given = json_get(value, flags[i].key);
		bool truth = false;

		if (given && !json_boolean(given, &truth))
			return policy_refuse(
			    loading, given, "%s.%s must be true or false", where, flags[i].key);
		if (truth)
			sum |= flags[i].flag;
	}
	if (!read_nested(loading, value, where, &sum))
		return false;
	return policy_add_root(loading, value, where, json_text(json_get(value, "path")), sum);
}

static bool
read_roots(struct loading *loading, const struct json *list)
{
	if (list && !json_is_array(list))
		return policy_refuse(loading, list, "allowed_working_roots must be a list");
	for (size_t i = 0; i < json_count(list); i++) {
		const struct json *value = json_at(list, i);
		char where[64];
		bool good;

		snprintf(where, sizeof(where), "allowed_working_roots[%zu]", i);
		good = json_is_object(value)
		    ? read_root_object(loading, value, where)
		    : policy_add_root(loading, value, where, json_text(value), 0);
		if (!good)
			return false;
	}
	return true;
}

static bool
read_path(struct loading *loading, const struct json *list)
{
	struct policy *policy = loading->policy;
	struct text_list directories = { 0 };
	char path[LIMIT_PATH] = "";
	size_t length = 0;

	if (!policy_read_texts(loading, list, "path", false, &directories))
		return false;
	for (size_t i = 0; i < directories.count; i++) {
		const char *directory = directories.items[i];
		size_t size = strlen(directory);

		if (!text_path_is_clean(directory) || strchr(directory, ':'))
			return policy_refuse(loading, json_at(list, i),
			    "path[%zu] must be a clean absolute directory", i);
		if (length + size + 2 > sizeof(path))
			return policy_refuse(loading, list, "path is too long");
		if (i > 0)
			path[length++] = ':';
		memcpy(path + length, directory, size + 1);
		length += size;
	}
	if (list && directories.count == 0)
		return policy_refuse(loading, list, "path is empty");
	if (list)
		policy->search_path = policy_text(policy, path);
	return true;
}

/* {"build": 2}: how many of a group run at once. */
static bool
read_groups(struct loading *loading, const struct json *value)
{
	struct policy *policy = loading->policy;

	if (value && (!json_is_object(value) || json_count(value) > LIMIT_GROUPS))
		return policy_refuse(loading, value, "queue.groups must be an object of at most %d numbers",
		    LIMIT_GROUPS);
	for (size_t i = 0; i < json_count(value); i++) {
		const char *name = json_key_at(value, i);
		uint64_t parallel = 1;

		if (strlen(name) == 0 || strlen(name) > LIMIT_LABEL_BYTES)
			return policy_refuse(loading, json_at(value, i), "queue.groups: a name has 1 to %d bytes",
			    LIMIT_LABEL_BYTES);
		if (!policy_read_number(loading, json_at(value, i), "queue.groups", 1, LIMIT_SLOTS, &parallel))
			return false;
		policy->groups[policy->group_count].name = policy_text(policy, name);
		policy->groups[policy->group_count++].parallel = (unsigned)parallel;
	}
	return true;
}

/* What a job's keeper does when the auditor is gone. */
static bool
read_audit_loss(struct loading *loading, const struct json *value)
{
	static const char *const names[AUDIT_LOSS_COUNT] = { [AUDIT_LOSS_LATER] = "freeze_later",
		[AUDIT_LOSS_CONTINUE] = "continue", [AUDIT_LOSS_FREEZE] = "freeze",
		[AUDIT_LOSS_KILL] = "kill" };
	const char *name = json_text(value);

	if (!value)
		return true;
	for (uint64_t i = 0; name && i < AUDIT_LOSS_COUNT; i++)
		if (strcmp(name, names[i]) == 0) {
			loading->policy->audit_loss = i;
			return true;
		}
	return policy_refuse(loading, value,
	    "queue.on_audit_loss must be freeze_later, continue, freeze or kill");
}

static bool
read_queue(struct loading *loading, const struct json *value)
{
	static const char *const known[] = { "slots", "workers", "groups", "on_audit_loss",
		"hooks", NULL };
	uint64_t slots = loading->policy->slots, workers = 0;

	if (!value)
		return true;
	if (!policy_read_keys(loading, value, "queue", known) ||
	    !policy_read_number(
	        loading, json_get(value, "slots"), "queue.slots", 1, LIMIT_SLOTS, &slots) ||
	    !policy_read_number(
	        loading, json_get(value, "workers"), "queue.workers", 0, LIMIT_SLOTS, &workers) ||
	    !read_groups(loading, json_get(value, "groups")) ||
	    !read_audit_loss(loading, json_get(value, "on_audit_loss")) ||
	    !policy_read_hooks(loading, json_get(value, "hooks")))
		return false;
	loading->policy->slots = (unsigned)slots;
	loading->policy->workers = (unsigned)workers;
	return true;
}

static bool
read_approvals(struct loading *loading, const struct json *value)
{
	static const char *const known[] = { "expires_seconds", NULL };

	if (!value)
		return true;
	return policy_read_keys(loading, value, "approvals", known) &&
	    policy_read_number(loading, json_get(value, "expires_seconds"),
	        "approvals.expires_seconds", 1, 31536000, &loading->policy->approval_seconds);
}

/* Nobody lets a secret pass unless the policy says that an operator may. */
static bool
read_secrets(struct loading *loading, const struct json *value)
{
	static const char *const known[] = { "override", NULL };
	const struct json *given = json_get(value, "override");

	if (!value)
		return true;
	if (!policy_read_keys(loading, value, "secrets", known))
		return false;
	return !given || json_boolean(given, &loading->policy->secret_override) ||
	    policy_refuse(loading, given, "secrets.override must be true or false");
}

/*
 * Sections whose work is not done: an empty object says nothing and is taken, anything else is
 * refused.
 */
static bool
refuse_unsupported(struct loading *loading)
{
	static const char *const sections[] = { "agents" };

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		const struct json *value = json_get(loading->root, sections[i]);

		if (value && !json_is_object(value))
			return policy_refuse(loading, value, "%s must be an object", sections[i]);
		if (json_count(value) > 0)
			return policy_refuse(
			    loading, json_at(value, 0), "not supported yet: %s", sections[i]);
	}
	return true;
}

bool
policy_load_v2(struct loading *loading)
{
	static const char *const known[] = { "version", "rules", "allowed_working_roots", "path",
		"environment", "environment_allowlist", "limits", "cage", "secrets", "agents",
		"queue", "approvals", "audit", NULL };
	const struct json *root = loading->root;
	struct policy *policy = loading->policy;

	policy->timeout_seconds = 3600;
	return policy_read_keys(loading, root, "the policy", known) &&
	    refuse_unsupported(loading) &&
	    read_roots(loading, json_get(root, "allowed_working_roots")) &&
	    policy_read_cage(loading, json_get(root, "cage"), "cage", &policy->cage) &&
	    policy_read_limits(loading, json_get(root, "limits")) &&
	    read_rules(loading, json_get(root, "rules")) &&
	    policy_check_ports(loading, json_get(root, "rules")) &&
	    read_path(loading, json_get(root, "path")) &&
	    policy_read_environment(loading, json_get(root, "environment")) &&
	    policy_read_allowlist(loading, json_get(root, "environment_allowlist")) &&
	    read_queue(loading, json_get(root, "queue")) &&
	    read_approvals(loading, json_get(root, "approvals")) &&
	    read_secrets(loading, json_get(root, "secrets")) &&
	    policy_read_audit(loading, json_get(root, "audit"));
}
