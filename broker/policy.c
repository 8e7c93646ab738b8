/* What a loaded policy says about itself. */
#include <string.h>

#include "boot.h"
#include "policy_parts.h"
#include "text.h"

const uint8_t *
policy_digest(const struct policy *policy)
{
	return policy->digest;
}

int
policy_version(const struct policy *policy)
{
	return policy->version;
}

size_t
policy_rule_count(const struct policy *policy)
{
	return policy->rule_count;
}

size_t
policy_root_count(const struct policy *policy)
{
	return policy->root_count;
}

size_t
policy_extra_count(const struct policy *policy)
{
	return policy->extra_count;
}

struct policy_root
policy_extra_at(const struct policy *policy, size_t index)
{
	return policy->extras[index];
}

struct policy_root
policy_root_at(const struct policy *policy, size_t index)
{
	return policy->roots[index];
}

void
policy_resolve_root(struct policy *policy, size_t index, const char *canonical)
{
	if (index < policy->root_count && text_path_is_clean(canonical))
		policy->canonical[index] = policy_text(policy, canonical);
}

unsigned
policy_slots(const struct policy *policy)
{
	return policy->slots;
}

unsigned
policy_workers(const struct policy *policy)
{
	return policy->workers;
}

unsigned
policy_group(const struct policy *policy, const char *name)
{
	for (size_t i = 0; i < policy->group_count; i++)
		if (strcmp(policy->groups[i].name, name) == 0)
			return policy->groups[i].parallel;
	return 0;
}

uint64_t
policy_audit_loss(const struct policy *policy)
{
	return policy->audit_loss;
}

const struct boot_audit *
policy_audit(const struct policy *policy)
{
	return policy->audit;
}

const char *
policy_search_path(const struct policy *policy)
{
	return policy->search_path;
}

uint64_t
policy_max_timeout_seconds(const struct policy *policy)
{
	return policy->timeout_seconds;
}

uint64_t
policy_keep_bytes(const struct policy *policy)
{
	return policy->limits.keep_bytes;
}

bool
policy_secret_override(const struct policy *policy)
{
	return policy->secret_override;
}

uint64_t
policy_approval_seconds(const struct policy *policy)
{
	return policy->approval_seconds;
}

size_t
policy_environment_count(const struct policy *policy)
{
	return policy->environment.count;
}

const char *
policy_environment_at(const struct policy *policy, size_t index)
{
	return policy->environment.items[index];
}

size_t
policy_fixed_count(const struct policy *policy)
{
	return policy->fixed.count;
}

const char *
policy_fixed_at(const struct policy *policy, size_t index)
{
	return policy->fixed.items[index];
}
