/* A policy as JSON, for people and agents that ask what may be proposed. */
#include "boot.h"
#include "policy_parts.h"
#include "run.h"

static void
add_texts(struct json *object, const char *key, const struct text_list *list)
{
	struct json *array = json_add_array(object, key);

	for (size_t i = 0; i < list->count; i++)
		json_add_text(array, NULL, list->items[i]);
}

static void
add_conditions(struct json *object, const char *key, const struct condition_list *list)
{
	static const char *const kinds[CONDITION_KINDS] = { "arg", "prefix", "like", "option",
		"short" };
	struct json *array;

	if (list->count == 0)
		return;
	array = json_add_array(object, key);
	for (size_t i = 0; i < list->count; i++)
		json_add_text(
		    json_add_object(array, NULL), kinds[list->items[i].kind], list->items[i].text);
}

static void
add_extras(struct json *object, const char *key, const struct policy_cage *cage, uint64_t flag)
{
	struct json *array = NULL;

	for (size_t i = 0; i < cage->extra_count; i++)
		if (cage->extras[i].flags & flag) {
			array = array ? array : json_add_array(object, key);
			json_add_text(array, NULL, cage->extras[i].path);
		}
}

static void
add_minimum(struct json *object, uint64_t minimum)
{
	struct json *array = minimum ? json_add_array(object, "minimum") : NULL;

	for (unsigned bit = 0; bit < LAYER_COUNT; bit++)
		if (minimum >> bit & 1)
			json_add_text(array, NULL, layer_name(bit));
}

static void
add_cage(struct json *object, const struct policy_cage *cage)
{
	struct json *shown = json_add_object(object, "cage"), *ports;

	json_add_text(shown, "profile", profile_row(cage->profile)->name);
	json_add_text(shown, "network", network_name(cage->network));
	add_extras(shown, "read_paths", cage, ROOT_EXTRA_READ);
	add_extras(shown, "write_paths", cage, ROOT_EXTRA_WRITE);
	add_minimum(shown, cage->minimum);
	if (cage->network != NETWORK_TCP_PORTS)
		return;
	ports = json_add_array(shown, "tcp_ports");
	for (unsigned i = 0; i < cage->ports.count; i++)
		json_add_integer(ports, NULL, cage->ports.list[i]);
}

struct json *
policy_rule_json(const struct policy *policy, int rule_index)
{
	struct json *object = json_object();
	const struct rule *rule;

	if (rule_index < 0 || (size_t)rule_index >= policy->rule_count)
		return object;
	rule = &policy->rules[rule_index];
	json_add_text(object, "program", rule->program);
	add_texts(object, "args_prefix", &rule->prefix);
	if (policy->version == 1)
		return object;
	if (rule->suffix.count > 0)
		add_texts(object, "args_suffix", &rule->suffix);
	if (rule->extra != EXTRA_ANY)
		json_add_integer(object, "args_extra", (int64_t)rule->extra);
	json_add_text(object, "effect", rule->effect == EFFECT_DENY ? "deny" : "allow");
	add_conditions(object, "match", &rule->match);
	add_conditions(object, "not_match", &rule->not_match);
	if (rule->effect == EFFECT_ALLOW)
		add_cage(object, &rule->cage);
	if (rule->reason)
		json_add_text(object, "reason", rule->reason);
	return object;
}

static void
add_roots(struct json *summary, const struct policy *policy)
{
	struct json *array = json_add_array(summary, "allowed_working_roots");

	for (size_t i = 0; i < policy->root_count; i++) {
		struct json *root = json_add_object(array, NULL);

		json_add_text(root, "path", policy->canonical[i]);
		json_add_boolean(root, "shared", policy->roots[i].flags & ROOT_SHARED);
		json_add_boolean(root, "root_owned", policy->roots[i].flags & ROOT_ROOT_OWNED);
		json_add_boolean(root, "read_only", policy->roots[i].flags & ROOT_READ_ONLY);
		json_add_text(root, "nested", policy->roots[i].flags & ROOT_NESTED_OFF ? "off" :
		    policy->roots[i].flags & ROOT_NESTED_REPOSITORIES ? "repositories" : "protected");
		json_add_text(root, "run_as", policy->roots[i].flags & ROOT_RUN_AS_OWNER ? "owner" : "slot");
	}
}

/* Names and numbers; the commands are nobody's business but the host's. */
static void
add_audit(struct json *summary, const struct boot_audit *audit)
{
	static const char *const requires[AUDIT_REQUIRE_COUNT] = { "none", "report", "exec" };
	struct json *object = json_add_object(summary, "audit"), *names;

	json_add_boolean(object, "export", audit->command_count > 0 && audit->commands[0].length > 0);
	names = json_add_array(object, "witnesses");
	for (unsigned i = 0; i < audit->witness_count; i++)
		json_add_text(names, NULL, audit->witnesses[i]);
	json_add_integer(object, "quorum", audit->quorum);
	json_add_text(object, "require", requires[audit->require]);
	json_add_integer(object, "deadline_seconds", audit->seconds);
}

struct json *
policy_summary(const struct policy *policy)
{
	struct json *summary = json_object(), *rules, *groups;

	json_add_integer(summary, "version", policy->version);
	rules = json_add_array(summary, "rules");
	for (size_t i = 0; i < policy->rule_count; i++)
		json_add(rules, NULL, policy_rule_json(policy, (int)i));
	add_roots(summary, policy);
	if (policy->version == 1)
		add_texts(summary, "denied_arguments", &policy->denied);
	add_texts(summary, "environment_allowlist", &policy->environment);
	json_add_text(summary, "path", policy->search_path);
	json_add_text(summary, "profile", profile_row(policy->cage.profile)->name);
	json_add_integer(summary, "max_timeout_seconds", (int64_t)policy->timeout_seconds);
	json_add_integer(summary, "keep_bytes", (int64_t)policy->limits.keep_bytes);
	json_add_integer(summary, "approval_seconds", (int64_t)policy->approval_seconds);
	json_add_boolean(summary, "secret_override", policy->secret_override);
	json_add_integer(summary, "slots", policy->slots);
	json_add_integer(summary, "workers", policy->workers);
	add_audit(summary, policy->audit);
	groups = json_add_object(summary, "groups");
	for (size_t i = 0; i < policy->group_count; i++)
		json_add_integer(groups, policy->groups[i].name, policy->groups[i].parallel);
	return summary;
}
