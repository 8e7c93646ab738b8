/* The sections `cage` of a version 2 policy: of all rules, and of one. */
#include <stdio.h>

#include "policy_parts.h"

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

bool
policy_read_cage(struct loading *loading, const struct json *value, const char *where,
    struct policy_cage *cage)
{
	static const char *const known[] = { "profile", "network", NULL };

	if (!value)
		return true;
	return policy_read_keys(loading, value, where, known) &&
	    read_profile(loading, json_get(value, "profile"), where, cage) &&
	    policy_read_network(loading, value, where, cage);
}

enum profile
policy_cage_floor(const struct policy *policy)
{
	enum profile floor = 0;

	for (size_t i = 0; i < policy->rule_count; i++)
		if (policy->rules[i].effect == EFFECT_ALLOW && policy->rules[i].cage.profile > floor)
			floor = policy->rules[i].cage.profile;
	return floor ? floor : policy->cage.profile;
}
