/* The sections `cage` of a version 2 policy: of all rules, and of one. */
#include <string.h>

#include "policy_parts.h"
#include "run.h"
#include "text.h"

static bool
read_profile(struct loading *loading, const struct json *value, const char *where,
    struct policy_cage *cage)
{
	if (!value)
		return true;
	if (!json_text(value))
		return policy_refuse(loading, value, "%s.profile must be a string", where);
	cage->profile = profile_named(json_text(value));
	return cage->profile ? true : policy_refuse(loading, value,
	    "%s.profile must be strict, default, agent, compat or debug", where);
}

/* A rule's minimum adds to the policy's: what that wants holds for every job. */
static bool
read_minimum(struct loading *loading, const struct json *list, const char *where,
    struct policy_cage *cage)
{
	struct text_list names = { 0 };
	char name[80];

	text_format(name, sizeof(name), "%s.minimum", where);
	if (!policy_read_texts(loading, list, name, false, &names))
		return false;
	for (size_t i = 0; i < names.count; i++) {
		unsigned bit = 0;

		while (bit < LAYER_COUNT && strcmp(layer_name(bit), names.items[i]) != 0)
			bit++;
		if (bit == LAYER_COUNT)
			return policy_refuse(
			    loading, json_at(list, i), "%s[%zu] is no layer of a cage", name, i);
		cage->minimum |= 1ull << bit;
	}
	return true;
}

bool
policy_read_cage(struct loading *loading, const struct json *value, const char *where,
    struct policy_cage *cage)
{
	static const char *const known[] = { "profile", "network", "read_paths", "write_paths", "minimum",
		NULL };

	if (!value)
		return true;
	return policy_read_keys(loading, value, where, known) &&
	    read_profile(loading, json_get(value, "profile"), where, cage) &&
	    policy_read_network(loading, value, where, cage) &&
	    policy_read_paths(loading, value, where, cage) &&
	    read_minimum(loading, json_get(value, "minimum"), where, cage);
}

bool
policy_check_minimum(struct loading *loading, const struct json *value, const char *where,
    const struct rule *rule)
{
	const struct {
		uint64_t layer;
		bool never;
		const char *why;
	} rows[] = {
		{ LAYER_CGROUP_MEMORY, rule->limits.memory_bytes == 0, "there is no memory_bytes" },
		{ LAYER_CGROUP_CPU, rule->limits.cpu_percent == 0, "there is no cpu_percent" },
		{ LAYER_NETWORK_NAMESPACE, rule->cage.network == NETWORK_TCP_PORTS,
		    "tcp_ports are those of the host's network" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rule->cage.minimum & rows[i].layer && rows[i].never)
			return policy_refuse(loading, value,
			    "%s: the minimum can never hold: %s", where, rows[i].why);
	return true;
}

enum profile
policy_cage_floor(const struct policy *policy)
{
	/* hooks run in the policy's own cage */
	enum profile floor = policy->hook_count > 0 ? policy->cage.profile : 0;

	for (size_t i = 0; i < policy->rule_count; i++)
		if (policy->rules[i].effect == EFFECT_ALLOW && policy->rules[i].cage.profile > floor)
			floor = policy->rules[i].cage.profile;
	if (policy->hook_count > 0 && policy->cage.profile > floor) /* they have the policy's own */
		floor = policy->cage.profile;
	return floor ? floor : policy->cage.profile;
}

uint64_t
policy_minimum_bounds(const struct policy *policy)
{
	/* hooks have the policy's own, and a rule's adds to that */
	uint64_t common = policy->hook_count > 0 ? policy->cage.minimum : UINT64_MAX;

	for (size_t i = 0; i < policy->rule_count; i++)
		if (policy->rules[i].effect == EFFECT_ALLOW)
			common &= policy->rules[i].cage.minimum;
	return common == UINT64_MAX ? policy->cage.minimum : common;
}
