/*
 * Limits of a version 2 policy.  A rule's are its profile's, then what the policy says, then what
 * the rule says itself; where the policy says something, no rule may have more.
 */
#include <stddef.h>
#include <stdio.h>

#include "policy_parts.h"
#include "text.h"

#define AT(member) offsetof(struct policy_limits, member)

static const struct {
	const char *key;
	size_t at;
	uint64_t least, most; /* as written */
	uint64_t unit;        /* times what is written is what is kept */
	bool zero;            /* 0 stands for: no limit */
} rows[] = {
	{ "grace_seconds", AT(grace_ms), 0, 60, 1000, false },
	{ "idle_seconds", AT(idle_ms), 1, LIMIT_TIMEOUT_SECONDS, 1000, true },
	{ "keep_bytes", AT(keep_bytes), 256, 64u << 20, 1, false },
	{ "output_bytes", AT(output_bytes), 4096, 1ull << 50, 1, true },
	{ "file_bytes", AT(file_bytes), 4096, 1ull << 50, 1, true },
	{ "cpu_seconds", AT(cpu_seconds), 1, 100 * LIMIT_TIMEOUT_SECONDS, 1, true },
	{ "cpu_percent", AT(cpu_percent), 1, LIMIT_CPU_PERCENT, 1, true },
	{ "open_files", AT(open_files), 16, 1u << 20, 1, false },
	{ "processes", AT(processes), 1, 1u << 20, 1, false },
	{ "memory_bytes", AT(memory_bytes), 16u << 20, 1ull << 50, 1, true },
	{ "tmp_bytes", AT(tmp_bytes), 1u << 20, 64ull << 30, 1, false },
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static uint64_t *
limit_at(struct policy_limits *limits, size_t row)
{
	return (uint64_t *)(void *)((char *)limits + rows[row].at);
}

static struct policy_limits
limits_of(enum profile profile)
{
	const struct profile_row *row = profile_row(profile);

	return (struct policy_limits){ .grace_ms = LIMIT_GRACE_MS, .keep_bytes = 65536,
		.open_files = row->open_files, .processes = row->processes,
		.memory_bytes = row->memory_bytes, .tmp_bytes = row->tmp_bytes };
}

/* Is a limit of `value` wider than one of `bound`? */
static bool
is_more(size_t row, uint64_t value, uint64_t bound)
{
	if (rows[row].zero && (value == 0 || bound == 0))
		return bound != 0;
	return value > bound;
}

static bool
read_row(struct loading *loading, const struct json *given, const char *where, size_t row,
    uint64_t *limit)
{
	int64_t number;
	uint64_t value = 0;
	char name[96];

	text_format(name, sizeof(name), "%s.%s%s", where, rows[row].key, rows[row].zero ? ", unless it is 0," : "");
	if (!rows[row].zero || !json_integer(given, &number) || number != 0)
		if (!policy_read_number(loading, given, name, rows[row].least, rows[row].most, &value))
			return false;
	*limit = value * rows[row].unit;
	return true;
}

static bool
read_keys(struct loading *loading, const struct json *value, const char *where)
{
	const char *known[ROWS + 2] = { "timeout_seconds" };

	for (size_t i = 0; i < ROWS; i++)
		known[i + 1] = rows[i].key;
	return policy_read_keys(loading, value, where, known);
}

bool
policy_read_limits(struct loading *loading, const struct json *value)
{
	struct policy *policy = loading->policy;

	policy->limits = limits_of(policy->cage.profile);
	if (!value)
		return true;
	if (!read_keys(loading, value, "limits") ||
	    !policy_read_number(loading, json_get(value, "timeout_seconds"),
	        "limits.timeout_seconds", 1, LIMIT_TIMEOUT_SECONDS, &policy->timeout_seconds))
		return false;
	for (size_t i = 0; i < ROWS; i++) {
		const struct json *given = json_get(value, rows[i].key);

		if (!given)
			continue;
		if (!read_row(loading, given, "limits", i, limit_at(&policy->limits, i)))
			return false;
		policy->limits_given |= 1u << i;
	}
	return true;
}

static bool
read_rule_row(struct loading *loading, const struct json *given, const char *where, size_t row,
    struct rule *rule)
{
	struct policy *policy = loading->policy;
	uint64_t *limit = limit_at(&rule->limits, row);

	if (!read_row(loading, given, where, row, limit))
		return false;
	if (policy->limits_given & 1u << row && is_more(row, *limit, *limit_at(&policy->limits, row)))
		return policy_refuse(
		    loading, given, "%s.%s is more than the policy's", where, rows[row].key);
	return true;
}

bool
policy_read_rule_limits(
    struct loading *loading, const struct json *value, const char *where, struct rule *rule)
{
	struct policy *policy = loading->policy;
	const struct json *timeout = json_get(value, "timeout_seconds");
	char name[96];

	rule->limits = limits_of(rule->cage.profile);
	for (size_t i = 0; i < ROWS; i++)
		if (policy->limits_given & 1u << i)
			*limit_at(&rule->limits, i) = *limit_at(&policy->limits, i);
	if (!value)
		return true;
	text_format(name, sizeof(name), "%s.timeout_seconds", where);
	if (!read_keys(loading, value, where) ||
	    !policy_read_number(
	        loading, timeout, name, 1, LIMIT_TIMEOUT_SECONDS, &rule->timeout_seconds))
		return false;
	if (rule->timeout_seconds > policy->timeout_seconds)
		return policy_refuse(loading, timeout, "%s is longer than the policy's", name);
	for (size_t i = 0; i < ROWS; i++)
		if (json_get(value, rows[i].key) &&
		    !read_rule_row(loading, json_get(value, rows[i].key), where, i, rule))
			return false;
	return true;
}
