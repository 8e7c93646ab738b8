/* One rule of version 2. */
#include <stdio.h>
#include <string.h>

#include "policy_parts.h"
#include "text.h"

/* Names of the conditions, by enum condition_kind. */
static const char *const kinds[CONDITION_KINDS + 1] = { "arg", "prefix", "like", "option", "short",
	NULL };

static bool
condition_is_good(const struct condition *condition)
{
	const char *text = condition->text;

	switch (condition->kind) {
	case CONDITION_OPTION:
		return strncmp(text, "--", 2) == 0 && text[2] && !strchr(text, '=');
	case CONDITION_SHORT:
		return *text && !strchr(text, '-');
	case CONDITION_PREFIX:
	case CONDITION_LIKE:
		return *text;
	case CONDITION_ARG:
		return true;
	}
	return false;
}

static bool
read_condition(struct loading *loading, const struct json *value, const char *where,
    struct condition *condition)
{
	const char *key;

	if (!policy_read_keys(loading, value, where, kinds))
		return false;
	if (json_count(value) != 1)
		return policy_refuse(loading, value, "%s must have exactly one key", where);
	key = json_key_at(value, 0);
	for (unsigned i = 0; i < CONDITION_KINDS; i++)
		if (strcmp(kinds[i], key) == 0)
			condition->kind = (enum condition_kind)i;
	if (!json_text(json_at(value, 0)))
		return policy_refuse(
		    loading, json_at(value, 0), "%s.%s must be a string", where, key);
	condition->text = policy_text(loading->policy, json_text(json_at(value, 0)));
	if (!condition_is_good(condition))
		return policy_refuse(
		    loading, json_at(value, 0), "%s.%s cannot match anything sensible", where, key);
	return true;
}

static bool
read_conditions(
    struct loading *loading, const struct json *list, const char *where, struct condition_list *to)
{
	size_t count = json_count(list);

	if (!list)
		return true;
	if (!json_is_array(list))
		return policy_refuse(loading, list, "%s must be a list of conditions", where);
	if (count == 0)
		return policy_refuse(loading, list, "%s is empty", where);
	to->items = policy_memory(loading->policy, count, sizeof(*to->items));
	for (size_t i = 0; i < count; i++) {
		char item[96];

		snprintf(item, sizeof(item), "%s[%zu]", where, i);
		if (!read_condition(loading, json_at(list, i), item, &to->items[to->count++]))
			return false;
	}
	return true;
}

/* {"exact": [..]} or {"prefix": [..], "suffix": [..], "extra": n} */
static bool
read_args_object(
    struct loading *loading, const struct json *value, const char *where, struct rule *rule)
{
	static const char *const known[] = { "exact", "prefix", "suffix", "extra", NULL };
	const struct json *exact = json_get(value, "exact");
	uint64_t extra = EXTRA_ANY;
	char name[96];

	if (!policy_read_keys(loading, value, where, known))
		return false;
	if (json_count(value) == 0 || (exact && json_count(value) > 1))
		return policy_refuse(
		    loading, value, "%s needs exact alone, or prefix, suffix or extra", where);
	if (exact) {
		rule->extra = 0;
		snprintf(name, sizeof(name), "%s.exact", where);
		return policy_read_texts(loading, exact, name, true, &rule->prefix);
	}
	snprintf(name, sizeof(name), "%s.extra", where);
	if (!policy_read_number(
	        loading, json_get(value, "extra"), name, 0, LIMIT_ARG_COUNT, &extra))
		return false;
	rule->extra = (size_t)extra;
	snprintf(name, sizeof(name), "%s.prefix", where);
	if (!policy_read_texts(loading, json_get(value, "prefix"), name, true, &rule->prefix))
		return false;
	snprintf(name, sizeof(name), "%s.suffix", where);
	return policy_read_texts(loading, json_get(value, "suffix"), name, true, &rule->suffix);
}

static bool
read_args(struct loading *loading, const struct json *value, const char *where, struct rule *rule)
{
	char name[80];

	snprintf(name, sizeof(name), "%s.args", where);
	rule->extra = EXTRA_ANY;
	if (json_is_object(value))
		return read_args_object(loading, value, name, rule);
	return policy_read_texts(loading, value, name, true, &rule->prefix);
}

static bool
read_effect(struct loading *loading, const struct json *value, const char *where, struct rule *rule)
{
	const struct json *effect = json_get(value, "effect"), *reason = json_get(value, "reason");
	const char *text = json_text(effect);

	if (effect && (!text || (strcmp(text, "allow") != 0 && strcmp(text, "deny") != 0)))
		return policy_refuse(
		    loading, effect, "%s.effect must be \"allow\" or \"deny\"", where);
	if (text && strcmp(text, "deny") == 0)
		rule->effect = EFFECT_DENY;
	text = json_text(reason);
	if (reason && (!text || !*text || strlen(text) > 300))
		return policy_refuse(
		    loading, reason, "%s.reason must be a text of at most 300 bytes", where);
	rule->reason = text ? policy_text(loading->policy, text) : NULL;
	return true;
}

/* "sha256:" and 64 lower-case hex digits */
bool
policy_read_digests(struct loading *loading, const struct json *list, const char *where,
    const uint8_t (**to)[32], size_t *count)
{
	struct text_list texts = { 0 };
	uint8_t(*digests)[32];
	char name[80];

	snprintf(name, sizeof(name), "%s.digests", where);
	if (!policy_read_texts(loading, list, name, false, &texts))
		return false;
	if (list && texts.count == 0)
		return policy_refuse(loading, list, "%s is empty", name);
	digests = policy_memory(loading->policy, texts.count, sizeof(*digests));
	for (size_t i = 0; i < texts.count; i++)
		if (strncmp(texts.items[i], "sha256:", 7) != 0 ||
		    !text_unhex(texts.items[i] + 7, digests[i], 32))
			return policy_refuse(loading, json_at(list, i),
			    "%s[%zu] must be sha256: and 64 hex digits", name, i);
	*to = (const uint8_t(*)[32])digests;
	*count = texts.count;
	return true;
}

/* The profile first: it has limits of its own. */
static bool
read_confinement(
    struct loading *loading, const struct json *value, const char *where, struct rule *rule)
{
	char cage[80], limits[80];

	snprintf(cage, sizeof(cage), "%s.cage", where);
	snprintf(limits, sizeof(limits), "%s.limits", where);
	rule->cage = loading->policy->cage;
	if (!policy_read_cage(loading, json_get(value, "cage"), cage, &rule->cage) ||
	    !policy_read_rule_limits(loading, json_get(value, "limits"), limits, rule))
		return false;
	policy_settle_network(&rule->cage);
	return policy_check_minimum(loading, value, where, rule);
}

/* What a rule that only denies cannot mean. */
static bool
deny_is_simple(struct loading *loading, const struct json *value, const char *where)
{
	static const char *const pointless[] = { "not_match", "limits", "cage" };

	for (size_t i = 0; i < 3; i++)
		if (json_get(value, pointless[i]))
			return policy_refuse(loading, json_get(value, pointless[i]),
			    "%s denies: %s has no meaning there", where, pointless[i]);
	return true;
}

bool
policy_read_rule(struct loading *loading, const struct json *value, size_t index, struct rule *rule)
{
	static const char *const known[] = { "program", "args", "effect", "reason", "match",
		"not_match", "digests", "cage", "limits", "secrets", "environment", NULL };
	static const char *const later[] = { "secrets", "environment" };
	char where[48], match[64], not_match[64];

	snprintf(where, sizeof(where), "rules[%zu]", index);
	snprintf(match, sizeof(match), "%s.match", where);
	snprintf(not_match, sizeof(not_match), "%s.not_match", where);
	if (!policy_read_keys(loading, value, where, known))
		return false;
	for (size_t i = 0; i < 2; i++)
		if (json_get(value, later[i]))
			return policy_refuse(loading, json_get(value, later[i]),
			    "not supported yet: %s.%s", where, later[i]);
	return policy_read_program(loading, value, where, rule) &&
	    read_args(loading, json_get(value, "args"), where, rule) &&
	    read_effect(loading, value, where, rule) &&
	    (rule->effect == EFFECT_ALLOW || deny_is_simple(loading, value, where)) &&
	    read_conditions(loading, json_get(value, "match"), match, &rule->match) &&
	    read_conditions(loading, json_get(value, "not_match"), not_match, &rule->not_match) &&
	    policy_read_digests(loading, json_get(value, "digests"), where, &rule->digests,
	        &rule->digest_count) &&
	    read_confinement(loading, value, where, rule);
}
